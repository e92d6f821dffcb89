// WebAuthn: the address that passkeys belong to, challenges, and the checks of an authenticator's answers.
import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';

/** The library takes longer to load than the rest of the service, and many businesses never use it. */
const loadLibrary = () => import('@simplewebauthn/server');
const loadLibraryHelpers = () => import('@simplewebauthn/server/helpers');

export interface RelyingParty {
  /** Host name that browsers bind passkeys to. */
  id: string;
  origin: string;
}

/** Undefined where browsers offer no passkeys: without https, at an IP address, beside the public address. */
export function findRelyingParty(
  request: FastifyRequest,
  publicUrl: string | undefined,
): RelyingParty | undefined {
  const sent = request.headers.origin ?? `${request.protocol}://${request.host}`;
  if (!URL.canParse(sent)) return undefined;
  const { origin, protocol, hostname } = new URL(sent);
  if (publicUrl !== undefined && new URL(publicUrl).origin !== origin) return undefined;
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return isSecure && !isAddress && hostname !== '' ? { id: hostname, origin } : undefined;
}

export function demandRelyingParty(request: FastifyRequest, publicUrl: string | undefined): RelyingParty {
  const relyingParty = findRelyingParty(request, publicUrl);
  if (!relyingParty) throw new ApiError('passkeys_unavailable');
  return relyingParty;
}

/** `boundTo` is the session or pending sign-in that asks. A sign-in by passkey has neither. */
export type Ceremony =
  | { purpose: 'SIGN_IN'; boundTo?: undefined }
  | { purpose: 'REGISTRATION' | 'SECOND_FACTOR' | 'PROOF'; boundTo: string };

export const ceremonySeconds = 5 * 60;
const timeout = ceremonySeconds * 1000;

async function makeChallenge(database: Database, { purpose, boundTo }: Ceremony) {
  const challenge = new Uint8Array(randomBytes(32));
  await database.pool.query('SELECT make_passkey_challenge($1, $2, $3, $4)', [
    hashChallenge(Buffer.from(challenge).toString('base64url')),
    purpose,
    boundTo,
    ceremonySeconds,
  ]);
  return challenge;
}

/** Answers with the challenge that the authenticator signed, if we made it for this ceremony and nobody used it. */
async function takeChallenge(database: Database, { purpose, boundTo }: Ceremony, clientDataJSON: string) {
  const challenge = readChallenge(clientDataJSON);
  const { rows } = await database.pool.query<{ used: boolean }>(
    'SELECT use_passkey_challenge($1, $2, $3) AS used',
    [hashChallenge(challenge), purpose, boundTo],
  );
  if (!rows[0]!.used) throw new ApiError('passkey_refused');
  return challenge;
}

function readChallenge(clientDataJSON: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
    if (typeof challenge === 'string') return challenge;
  } catch {
    // Malformed, so refused like a wrong one.
  }
  throw new ApiError('passkey_refused');
}

function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}

export interface KnownCredential {
  id: string;
  transports: string[];
}

const supportedAlgorithmIDs = [-8, -7, -257];

/** Options for `navigator.credentials.create`. */
export async function offerRegistration(
  database: Database,
  relyingParty: RelyingParty,
  boundTo: string,
  person: { id: string; name: string; email: string },
  known: KnownCredential[],
) {
  const { generateRegistrationOptions } = await loadLibrary();
  return generateRegistrationOptions({
    rpName: 'Stamm',
    rpID: relyingParty.id,
    userID: userHandleOf(person.id),
    userName: person.email,
    userDisplayName: person.name,
    challenge: await makeChallenge(database, { purpose: 'REGISTRATION', boundTo }),
    timeout,
    excludeCredentials: known,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs,
  });
}

/** Options for `navigator.credentials.get`. Without known credentials the browser shows all of this address. */
export async function offerAssertion(
  database: Database,
  relyingParty: RelyingParty,
  ceremony: Ceremony,
  known: KnownCredential[] = [],
) {
  const { generateAuthenticationOptions } = await loadLibrary();
  return generateAuthenticationOptions({
    rpID: relyingParty.id,
    challenge: await makeChallenge(database, ceremony),
    timeout,
    allowCredentials: known,
    userVerification: 'required',
  });
}

export interface Attestation {
  id: string;
  clientDataJSON: string;
  attestationObject: string;
  transports: string[];
}

/** The new credential; throws `passkey_refused` for an answer that does not fit the challenge or the address. */
export async function verifyAttestation(
  database: Database,
  relyingParty: RelyingParty,
  boundTo: string,
  { id, clientDataJSON, attestationObject }: Attestation,
) {
  const expectedChallenge = await takeChallenge(
    database,
    { purpose: 'REGISTRATION', boundTo },
    clientDataJSON,
  );
  const { verifyRegistrationResponse } = await loadLibrary();
  return refuseFailures(async () => {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject: await dropStatement(attestationObject) },
      },
      expectedChallenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      supportedAlgorithmIDs,
    });
    if (!registrationInfo) throw new ApiError('passkey_refused');
    return registrationInfo;
  });
}

/** We ask for no attestation. The library would follow addresses in the certificates of one that comes anyway. */
async function dropStatement(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoCBOR } = await loadLibraryHelpers();
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const without = new Map<string, string | Uint8Array | Map<never, never>>([
    ['fmt', 'none'],
    ['attStmt', new Map<never, never>()],
    ['authData', decoded.get('authData')],
  ]);
  return Buffer.from(isoCBOR.encode(without)).toString('base64url');
}

export interface Assertion {
  id: string;
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
  userHandle: string | undefined;
}

interface StoredCredential {
  tenant_id: string;
  id: string;
  public_key: Buffer;
  counter: string;
  rp_id: string;
}

/** The passkey of the person that signed; throws `passkey_refused`, also where there is no such passkey. */
export async function verifyAssertion(
  database: Database,
  relyingParty: RelyingParty,
  ceremony: Ceremony,
  personId: string,
  { id, userHandle, ...response }: Assertion,
): Promise<{ tenantId: string; passkeyId: string; counter: number }> {
  const expectedChallenge = await takeChallenge(database, ceremony, response.clientDataJSON);
  const { rows } = await database.pool.query<StoredCredential>('SELECT * FROM find_passkey($1, $2)', [
    Buffer.from(id, 'base64url'),
    personId,
  ]);
  const [stored] = rows;
  if (!stored || stored.rp_id !== relyingParty.id) throw new ApiError('passkey_refused');
  const { verifyAuthenticationResponse } = await loadLibrary();
  return refuseFailures(async () => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
      expectedChallenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      credential: { id, publicKey: new Uint8Array(stored.public_key), counter: Number(stored.counter) },
    });
    if (!verified) throw new ApiError('passkey_refused');
    return { tenantId: stored.tenant_id, passkeyId: stored.id, counter: authenticationInfo.newCounter };
  });
}

/** The library throws plain errors for everything that does not fit, a counter that went back included. */
async function refuseFailures<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new ApiError('passkey_refused', { cause });
  }
}

/** The person's id. Authenticators store it beside a passkey and return it at a sign-in. */
function userHandleOf(personId: string) {
  return new Uint8Array(Buffer.from(personId.replaceAll('-', ''), 'hex'));
}

export function personIdOf(userHandle: string | undefined): string | undefined {
  const hex = Buffer.from(userHandle ?? '', 'base64url').toString('hex');
  return /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(hex)?.slice(1).join('-');
}
