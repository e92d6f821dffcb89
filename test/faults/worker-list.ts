// The workers of the machine, as `ps` shows them.
import { execFileSync } from 'node:child_process';

interface Running {
  pid: number;
  parent: number;
}

export function listWorkers(): Running[] {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return list
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words.some((word) => word.endsWith('/worker.ts')))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

export function workersOf(service: { pid: number }): number[] {
  return listWorkers()
    .filter(({ parent }) => parent === service.pid)
    .map(({ pid }) => pid);
}
