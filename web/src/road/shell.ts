// The app's own files on the phone, by the service worker of web/service-worker.js.

const script = '/service-worker.js';

/** Browsers have service workers only on HTTPS and on the machine itself. Otherwise, a reload needs the network. */
export async function keepShell(): Promise<void> {
  if (!import.meta.env.PROD) return;
  await navigator.serviceWorker?.register(script, { updateViaCache: 'none' }).catch(() => {});
}

export async function forgetShell(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  await registration?.unregister();
  for (const name of await globalThis.caches.keys()) await caches.delete(name);
}
