// Whose attempts are counted together.
import { isIPv6, SocketAddress } from 'node:net';

/** With IPv6 everybody has a whole network of addresses: its first 64 bits name it, in one spelling. */
export function networkOf(address: string): string {
  const [plain] = address.split('%', 1);
  if (!isIPv6(plain!)) return address;
  const groups = groupsOf(new SocketAddress({ family: 'ipv6', address: plain! }).address);
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  if (isMapped) return groups.slice(6).flatMap(bytesOf).join('.');
  return groups.slice(0, 4).join(':');
}

/** The eight groups of an address as the system writes it: lower case, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.replace(/[\d.]+\.\d+$/, toGroups).split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const missing = tail === undefined ? 0 : 8 - before!.length - after!.length;
  return [...before!, ...Array<string>(missing).fill('0'), ...after!];
}

function toGroups(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
