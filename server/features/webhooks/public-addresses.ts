// Which addresses webhooks may connect to: those of the public internet.
import { BlockList, isIPv4 } from 'node:net';

/** Networks of IANA's registries of special-purpose addresses: local, shared, reserved, for documentation, or multicast. */
const specialNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

/** Non-public parts of 2000::/3: Teredo, documentation and 6to4, which can lead to any IPv4 address. */
const specialNetworks6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const special = new BlockList();
const global6 = new BlockList();
for (const network of specialNetworks) addNetwork(special, network, 'ipv4');
for (const network of specialNetworks6) addNetwork(special, network, 'ipv6');
addNetwork(global6, '2000::/3', 'ipv6');

function addNetwork(list: BlockList, network: string, family: 'ipv4' | 'ipv6'): void {
  const [address, bits] = network.split('/') as [string, string];
  list.addSubnet(address, Number(bits), family);
}

/** IPv4 addresses inside IPv6 (::ffff:10.0.0.1) are outside of 2000::/3, so they are refused in that form. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
