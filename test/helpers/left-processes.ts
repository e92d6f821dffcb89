// A signal ends a test file without its hooks. Programs that it started end with it.
import { childrenOf, signalProcesses } from '../faults/helpers/process-list.ts';

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // `ps`, which lists them, is among them and has ended.
    signalProcesses(childrenOf(process.pid), 'SIGTERM');
    process.exit(1);
  });
