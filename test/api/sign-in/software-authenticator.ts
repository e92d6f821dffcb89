// An authenticator in software: it makes ES256 passkeys and signs challenges as a browser's would, or wrongly on demand.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>;

/** As much of CBOR as an attestation object needs. */
function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([name, member]) => [encodeCbor(name), encodeCbor(member)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

function head(majorType: number, argument: number): Buffer {
  const first = majorType << 5;
  if (argument < 24) return Buffer.from([first | argument]);
  if (argument < 256) return Buffer.from([first | 24, argument]);
  return Buffer.from([first | 25, argument >> 8, argument & 255]);
}

interface Behaviour {
  origin?: string;
  rpId?: string;
  /** false: nobody showed a finger or typed a PIN. */
  isVerified?: boolean;
  /** The signature counter to send; 0 by default, as authenticators that synchronise their passkeys do. */
  counter?: number;
  /** What the attestation object says about its maker. */
  format?: string;
  statement?: Map<string, Cbor>;
}

interface CreationOptions {
  challenge: string;
  rp: { id?: string };
  user: { id: string };
}

interface RequestOptions {
  challenge: string;
  rpId?: string;
}

export class SoftwareAuthenticator {
  readonly #privateKey: KeyObject;
  readonly #publicKey: Map<number, Cbor>;
  readonly credentialId = randomBytes(32);
  userHandle = '';

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    this.#privateKey = privateKey;
    this.#publicKey = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x!, 'base64url')],
      [-3, Buffer.from(y!, 'base64url')],
    ]);
  }

  get id(): string {
    return this.credentialId.toString('base64url');
  }

  create({ challenge, rp, user }: CreationOptions, behaviour: Behaviour = {}) {
    this.userHandle = user.id;
    const credential = Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([0, this.credentialId.length]),
      this.credentialId,
      encodeCbor(this.#publicKey),
    ]);
    const attestationObject = encodeCbor(
      new Map<string, Cbor>([
        ['fmt', behaviour.format ?? 'none'],
        ['attStmt', behaviour.statement ?? new Map()],
        ['authData', Buffer.concat([authenticatorData(rp.id, behaviour, 0x40), credential])],
      ]),
    );
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData('webauthn.create', challenge, behaviour).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'not-a-transport'],
      },
    };
  }

  sign({ challenge, rpId }: RequestOptions, behaviour: Behaviour = {}) {
    const data = authenticatorData(rpId, behaviour, 0);
    const client = clientData('webauthn.get', challenge, behaviour);
    const hash = createHash('sha256').update(client).digest();
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, hash]), this.#privateKey).toString('base64url'),
        userHandle: this.userHandle,
      },
    };
  }
}

function authenticatorData(rpId: string | undefined, behaviour: Behaviour, extraFlags: number): Buffer {
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(behaviour.counter ?? 0);
  const flags = 0x01 | (behaviour.isVerified === false ? 0 : 0x04) | extraFlags;
  const hash = createHash('sha256')
    .update(behaviour.rpId ?? rpId ?? '')
    .digest();
  return Buffer.concat([hash, Buffer.from([flags]), counter]);
}

function clientData(type: string, challenge: string, { origin = 'http://localhost' }: Behaviour): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}
