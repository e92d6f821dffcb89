// A network of its own: a node in a network namespace reaches this machine over a cable that a test cuts or makes lossy. Only
// root can make one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { findProgram } from '../../helpers/programs.ts';
import { cleanUpLater } from './process.ts';

/** Tried in a namespace that ends with the try. */
const isMakeable =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-n', 'nft', 'add', 'table', 'inet', 'faults']).status === 0;

export const withoutNetwork =
  !findProgram('ip') || !findProgram('nft')
    ? 'ip or nft is missing: apt-get install iproute2 nftables'
    : !isMakeable && 'this account may not make a network namespace';

export interface Network {
  /** Addresses of this machine and of the node. */
  here: string;
  there: string;
  /** Words before a command that runs at the other end. */
  prefix: readonly string[];
  /** A share of the packets is lost in both directions; 1 cuts the cable. With a port only those from and to it. */
  lose(share: number, port?: number): void;
  heal(): void;
}

let made: Network | undefined;

/** One for the tests of a file. */
export function openNetwork(): Network {
  made ??= makeNetwork();
  return made;
}

function makeNetwork(): Network {
  const name = `stamm${process.pid}`;
  const subnet = `10.213.${process.pid % 256}`;
  const [here, there] = [`${subnet}.1`, `${subnet}.2`];
  const prefix = ['ip', 'netns', 'exec', name];
  run('ip', 'netns', 'add', name);
  cleanUpLater(async () => run('ip', 'netns', 'del', name));
  run('ip', 'link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name);
  run('ip', 'addr', 'add', `${here}/30`, 'dev', `${name}a`);
  run('ip', 'link', 'set', `${name}a`, 'up');
  run('ip', '-n', name, 'addr', 'add', `${there}/30`, 'dev', `${name}b`);
  run('ip', '-n', name, 'link', 'set', `${name}b`, 'up');
  run('ip', '-n', name, 'link', 'set', 'lo', 'up');
  run('ip', 'link', 'set', 'lo', 'up');

  const nft = (...words: string[]) => run(...prefix, 'nft', ...words);
  nft('add', 'table', 'inet', 'faults');
  for (const hook of ['input', 'output'])
    nft('add', 'chain', 'inet', 'faults', hook, `{ type filter hook ${hook} priority 0; }`);

  function lose(share: number, port?: number): void {
    for (const hook of ['input', 'output']) {
      // The database listens here, clients call there.
      const end = (hook === 'input') === (port === 5432) ? 'sport' : 'dport';
      const which = port === undefined ? [] : ['tcp', end, String(port)];
      const often =
        share === 1 ? [] : ['numgen', 'random', 'mod', '1000', '<', String(Math.round(share * 1000))];
      nft('add', 'rule', 'inet', 'faults', hook, ...which, ...often, 'drop');
    }
  }
  const heal = () => nft('flush', 'table', 'inet', 'faults');
  return { here, there, prefix, lose, heal };
}

function run(...command: string[]): void {
  const { status, stderr } = spawnSync(command[0]!, command.slice(1), { encoding: 'utf8' });
  assert.equal(status, 0, `${command.join(' ')}: ${stderr}`);
}
