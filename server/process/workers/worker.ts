// One of several processes on one port. Ctrl-C signals all of them; the one that owns the port says when to end.
// Hence the handlers before anything is loaded: a signal during the start must not end a worker by itself.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('SIGHUP', () => {});
await import('./worker-orders.ts');
