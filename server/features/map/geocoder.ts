// Asks a geocoder with the interface of Nominatim for the position of one address.
import { readRetryAfter } from '../../http/retry-pauses.ts';
import { version } from '../../version.ts';

export interface StreetAddress {
  streetName: string;
  houseNumber: string;
  zipCode: string;
  city: string;
}

export type GeocoderAnswer =
  | { kind: 'found'; lat: number; lng: number; foundAs: string }
  | { kind: 'not_found' }
  | { kind: 'failed'; reason: string; retryAfterSeconds: number | undefined };

export interface Geocoder {
  url: string;
  /** Tells the operator of the geocoder who asks. */
  publicUrl: string | undefined;
  timeoutMs: number;
}

/** A longer address is a mistake, and no geocoder knows it. */
const maxAddressLength = 300;
const maxAnswerBytes = 256 * 1024;
const maxNameLength = 300;

export async function askGeocoder(
  { url, publicUrl, timeoutMs }: Geocoder,
  address: StreetAddress,
  signal: AbortSignal,
): Promise<GeocoderAnswer> {
  if (Object.values(address).join(' ').length > maxAddressLength) return { kind: 'not_found' };
  try {
    const response = await fetch(questionOf(url, address), {
      headers: {
        'User-Agent': `Stamm/${version}${publicUrl ? ` (+${publicUrl})` : ''}`,
        'Accept-Language': 'de,en',
        Accept: 'application/json',
      },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = await readStart(response);
    // The address itself is refused; another one may be answered.
    if (response.status === 400) return { kind: 'not_found' };
    if (!response.ok) {
      const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after') ?? undefined);
      return { kind: 'failed', reason: `status ${response.status}`, retryAfterSeconds };
    }
    return readAnswer(text);
  } catch (error) {
    return { kind: 'failed', reason: (error as Error).name, retryAfterSeconds: undefined };
  }
}

/** Parameters of the setting stay: some geocoders take their key there. */
function questionOf(url: string, { streetName, houseNumber, zipCode, city }: StreetAddress): URL {
  const question = new URL(url);
  const parameters = {
    street: `${houseNumber} ${streetName}`.trim(),
    postalcode: zipCode,
    city,
    format: 'jsonv2',
    limit: '1',
  };
  for (const [name, value] of Object.entries(parameters)) question.searchParams.set(name, value);
  return question;
}

async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new RangeError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(text: string): GeocoderAnswer {
  const places: unknown = JSON.parse(text);
  if (!Array.isArray(places)) throw new TypeError('not a list of places');
  if (places.length === 0) return { kind: 'not_found' };
  const place = Object(places[0]) as Record<string, unknown>;
  const [lat, lng] = [toDegrees(place.lat), toDegrees(place.lon)];
  if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) throw new TypeError('not a position');
  const name = typeof place.display_name === 'string' ? place.display_name : '';
  return {
    kind: 'found',
    lat,
    lng,
    foundAs: name.replaceAll('\0', '').toWellFormed().slice(0, maxNameLength),
  };
}

/** Nominatim writes numbers as strings. */
function toDegrees(value: unknown): number {
  const isNumber =
    typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,3}(\.\d{1,20})?$/.test(value));
  // Five decimals are a metre.
  return isNumber ? Number(Number(value).toFixed(5)) : Number.NaN;
}
