// A first name for a passkey, to recognise it in a list. People can rename it.
import { deviceName } from '../../../core/device-name.ts';

/** Identifiers that password managers and systems publish; many browsers hide them. */
const authenticators: Record<string, string> = {
  '08987058-cadc-4b81-b6e1-30de50dcbe96': 'Windows Hello',
  '53414d53-554e-4700-0000-000000000000': 'Samsung Pass',
  '6028b017-b1d4-4c02-b4b3-afcdafc96bb2': 'Windows Hello',
  '9ddd1817-af5a-4672-a2b9-3e3dd95000a9': 'Windows Hello',
  'bada5566-a7aa-401f-bd96-45619a55120d': '1Password',
  'd548826e-79b4-40a7-a3d8-11116f7e8349': 'Bitwarden',
  'dd4ec289-e01d-41c9-bb89-70fa845d4bf2': 'iCloud',
  'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4': 'Google',
  'fbfc3007-154e-4ecc-8c0b-6e020557d7bd': 'iCloud',
};

export function nameAuthenticator(aaguid: string, userAgent = ''): string {
  return authenticators[aaguid] ?? deviceName(userAgent) ?? 'Passkey';
}
