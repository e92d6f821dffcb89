// What the figures were measured on, without its name.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';

export interface Machine {
  cores: number;
  processor: string;
  memory: string;
  system: string;
  node: string;
  postgres: string;
  commit: string;
}

export function describeMachine(postgresVersion: string): Machine {
  return {
    cores: availableParallelism(),
    processor: `${processorName()} (${arch()})`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    system: `${platform()} ${release()}`,
    node: process.version,
    postgres: postgresVersion,
    commit: currentCommit(),
  };
}

/** Node knows no model on many arm64 machines; lscpu derives one from numbers of the processor. */
function processorName(): string {
  const model = cpus()[0]?.model.trim();
  if (model && model !== 'unknown') return model;
  const { stdout } = spawnSync('lscpu', { encoding: 'utf8' });
  return /^Model name: +(.+)$/m.exec(stdout ?? '')?.[1] ?? 'unknown processor';
}

function currentCommit(): string {
  const { stdout, status } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : 'unknown';
}

/** Only Linux tells the memory of processes in files; elsewhere it is not measured. */
export const canReadProcesses = platform() === 'linux';

/** A process and all that it started. */
function processTree(pid: number): number[] {
  const children = readOf(pid, `task/${pid}/children`).trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number).flatMap(processTree)];
}

/** Resident bytes; shared pages count fully. */
function readResidentBytes(pid: number): number {
  return readKilobytes(pid, 'status', 'VmRSS') * 1024;
}

function readKilobytes(pid: number, file: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readOf(pid, file))?.[1] ?? 0);
}

/** Nothing of a process that has ended meanwhile. */
function readOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function countDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** What a process and all that it started hold now. */
export function readFootprint(pid: number): { residentBytes: number; descriptors: number } {
  const processes = processTree(pid);
  const sum = (read: (one: number) => number) => processes.map(read).reduce((all, one) => all + one, 0);
  return { residentBytes: sum(readResidentBytes), descriptors: sum(countDescriptors) };
}

/** The most that the processes of a service had together, looked at several times per second until it is stopped. */
export function watchMemory(pid: number): { stop(): { mostBytes: number; mostBytesOfOne: number } } {
  let mostBytes = 0;
  let mostBytesOfOne = 0;
  const look = () => {
    const sizes = processTree(pid).map(readResidentBytes);
    mostBytes = Math.max(
      mostBytes,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    mostBytesOfOne = Math.max(mostBytesOfOne, ...sizes);
  };
  look();
  const timer = setInterval(look, 200);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { mostBytes, mostBytesOfOne };
    },
  };
}
