// Reads an authenticator's result from a browser: base64url texts of known names. Drops everything else.

import type { Input, Reading } from '../../access/form.ts';
import { isObject } from '../../engine/definition/validation.ts';
import type { Assertion, Attestation } from './webauthn.ts';

const maxLength = 16_000;
const knownTransports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

const wrongShape = { code: 'type', params: { type: 'object' } } as const;

/** The named texts of a credential, or undefined where one is missing or not base64url. */
function readTexts<Name extends string>(
  value: unknown,
  names: readonly Name[],
): ({ id: string; inner: Record<string, unknown> } & Record<Name, string>) | undefined {
  if (!isObject(value) || !isObject(value.response)) return undefined;
  const inner = value.response;
  const texts = { id: value.id, ...Object.fromEntries(names.map((name) => [name, inner[name]])) };
  if (!Object.values(texts).every(isBase64Url)) return undefined;
  return { ...(texts as { id: string } & Record<Name, string>), inner };
}

function isBase64Url(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxLength && /^[A-Za-z0-9_-]+$/.test(value);
}

export const attestation: Input<Attestation> = {
  isRequired: true,
  read(value): Reading<Attestation> {
    const texts = readTexts(value, ['clientDataJSON', 'attestationObject'] as const);
    if (!texts) return wrongShape;
    const { id, clientDataJSON, attestationObject, inner } = texts;
    const transports = Array.isArray(inner.transports) ? inner.transports : [];
    return {
      value: {
        id,
        clientDataJSON,
        attestationObject,
        transports: knownTransports.filter((transport) => transports.includes(transport)),
      },
    };
  },
};

export const assertion: Input<Assertion> = {
  isRequired: true,
  read(value): Reading<Assertion> {
    const texts = readTexts(value, ['clientDataJSON', 'authenticatorData', 'signature'] as const);
    if (!texts) return wrongShape;
    const { inner, ...rest } = texts;
    return { value: { ...rest, userHandle: isBase64Url(inner.userHandle) ? inner.userHandle : undefined } };
  },
};
