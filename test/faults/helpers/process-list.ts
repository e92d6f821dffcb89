// The processes of the machine, as `ps` shows them, and signals to them.
import { execFileSync } from 'node:child_process';

interface Running {
  pid: number;
  parent: number;
  words: string[];
}

function listProcesses(): Running[] {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return list
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, ...words]) => ({ pid: Number(pid), parent: Number(parent), words }));
}

export function childrenOf(pid: number): number[] {
  return listProcesses()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);
}

export function listWorkers(): Running[] {
  return listProcesses().filter(({ words }) => words.some((word) => word.endsWith('/worker.ts')));
}

export function workersOf(service: { pid: number }): number[] {
  return listWorkers()
    .filter(({ parent }) => parent === service.pid)
    .map(({ pid }) => pid);
}

/** One that has ended meanwhile needs no signal. */
export function signalProcesses(pids: readonly number[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
