// Passkeys in the browser. The library is loaded when somebody uses one.
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { queryOptions } from '@tanstack/react-query';
import i18next from 'i18next';
import { ApiError, call } from './client.ts';

export interface Passkey {
  id: string;
  name: string;
  rpId: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }) =>
    call<{ data: Passkey[]; recoveryCodesLeft: number; isRequired: boolean }>('GET', '/passkeys', { signal }),
});

/** Browsers offer passkeys on https pages and on this machine, and never at an IP address. */
export function canUsePasskeys(): boolean {
  const isAddress = /^[\d.]+$|^\[/.test(window.location.hostname);
  return window.isSecureContext && !isAddress && 'PublicKeyCredential' in window;
}

export async function addPasskey(): Promise<Passkey> {
  const optionsJSON = await call<PublicKeyCredentialCreationOptionsJSON>('POST', '/passkeys/options');
  const credential = await inBrowser(({ startRegistration }) => startRegistration({ optionsJSON }));
  return call<Passkey>('POST', '/passkeys', { body: { credential } });
}

export function signChallenge(optionsJSON: PublicKeyCredentialRequestOptionsJSON) {
  return inBrowser(({ startAuthentication }) => startAuthentication({ optionsJSON }));
}

async function inBrowser<Result>(
  work: (library: typeof import('@simplewebauthn/browser')) => Promise<Result>,
): Promise<Result> {
  const library = await import('@simplewebauthn/browser');
  try {
    return await work(library);
  } catch (error) {
    throw new ApiError(0, { message: i18next.t(`passkeys.${reasonOf(error)}`), code: 'passkey_unused' });
  }
}

/** Browsers tell no more than this: a cancelled dialog and one that nobody answered look the same. */
function reasonOf(error: unknown): 'cancelled' | 'alreadyHere' | 'failed' {
  const { name } = error as Error;
  if (name === 'NotAllowedError' || name === 'AbortError') return 'cancelled';
  return name === 'InvalidStateError' ? 'alreadyHere' : 'failed';
}
