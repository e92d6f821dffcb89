// Every sentence that an API answer can hold, in both languages. Codes are the contract; sentences may change.
import type { AttentionCode } from '../core/codes.ts';
import type { ErrorCode, FaultCode } from './errors.ts';

export type Language = 'en' | 'de';

const messages: Record<ErrorCode | FaultCode | AttentionCode, Record<Language, string>> = {
  validation_failed: {
    en: 'The request holds invalid data. See "errors" for each faulty field.',
    de: 'Die Anfrage enthält ungültige Daten. Unter "errors" steht jedes fehlerhafte Feld.',
  },
  bad_request: {
    en: 'This is not a well-formed HTTP request.',
    de: 'Das ist keine wohlgeformte HTTP-Anfrage.',
  },
  request_timeout: {
    en: 'The request did not arrive completely in time.',
    de: 'Die Anfrage ist nicht rechtzeitig vollständig angekommen.',
  },
  key_missing: {
    en: 'The header "ApiKey" is missing.',
    de: 'Der Header "ApiKey" fehlt.',
  },
  key_malformed: {
    en: 'This is not a complete API key. Check for typing errors and for missing characters.',
    de: 'Das ist kein vollständiger API-Schlüssel. Bitte auf Tippfehler und fehlende Zeichen prüfen.',
  },
  key_unknown: {
    en: 'This API key is not known here.',
    de: 'Dieser API-Schlüssel ist hier nicht bekannt.',
  },
  key_replaced: {
    en: 'This API key has been replaced by a newer one. Use the newer one.',
    de: 'Dieser API-Schlüssel wurde durch einen neueren ersetzt. Bitte den neueren verwenden.',
  },
  key_deleted: {
    en: 'This API key has been deleted. Ask the office for a new one.',
    de: 'Dieser API-Schlüssel wurde gelöscht. Einen neuen gibt es bei der Verwaltung.',
  },
  session_missing: {
    en: 'Nobody is signed in here, or the session has ended. Please sign in.',
    de: 'Hier ist niemand angemeldet, oder die Sitzung ist beendet. Bitte anmelden.',
  },
  sign_in_failed: {
    en: 'This e-mail address and password do not belong together.',
    de: 'Diese E-Mail-Adresse und dieses Passwort gehören nicht zusammen.',
  },
  sign_in_expired: {
    en: 'This sign-in took too long. Start again with your password.',
    de: 'Diese Anmeldung hat zu lange gedauert. Bitte neu mit Passwort beginnen.',
  },
  passkey_refused: {
    en: 'This passkey was not accepted. Try again or sign in another way.',
    de: 'Dieser Passkey wurde nicht angenommen. Bitte erneut oder anders anmelden.',
  },
  recovery_code_wrong: {
    en: 'This recovery code is wrong or already used. Try another one.',
    de: 'Dieser Notfallcode ist falsch oder verbraucht. Bitte einen anderen eingeben.',
  },
  passkey_required: {
    en: 'Your business requires a passkey. Add one first.',
    de: 'Ihr Betrieb verlangt einen Passkey. Bitte richten Sie zuerst einen ein.',
  },
  proof_required: {
    en: 'Confirm your password or passkey again, then repeat this.',
    de: 'Bitte bestätigen Sie zuerst Ihr Passwort oder Ihren Passkey.',
  },
  last_passkey: {
    en: 'Your business requires a passkey. Add another one first.',
    de: 'Ihr Betrieb verlangt einen Passkey. Bitte zuerst einen weiteren einrichten.',
  },
  passkey_missing: {
    en: 'You have no passkey yet. Add one to your account first.',
    de: 'Sie haben noch keinen Passkey. Bitte richten Sie zuerst einen ein.',
  },
  passkey_known: {
    en: 'You have already added this passkey. Use it or choose another.',
    de: 'Diesen Passkey haben Sie schon eingerichtet. Bitte einen anderen wählen.',
  },
  passkeys_unavailable: {
    en: 'Passkeys do not work at this address. Open Stamm with https.',
    de: 'Unter dieser Adresse gehen keine Passkeys. Bitte Stamm mit https öffnen.',
  },
  too_many_passkeys: {
    en: 'You have the most passkeys allowed. Remove one first.',
    de: 'Mehr Passkeys sind nicht möglich. Bitte entfernen Sie zuerst einen.',
  },
  foreign_origin: {
    en: 'This request does not come from this web app itself.',
    de: 'Diese Anfrage kommt nicht aus dieser Webanwendung selbst.',
  },
  role_insufficient: {
    en: 'Your role does not allow this. The role "Verwaltung" may do it.',
    de: 'Ihre Rolle erlaubt das nicht. Die Rolle "Verwaltung" darf es.',
  },
  email_taken: {
    en: 'Somebody of this business already signs in with this address.',
    de: 'Mit dieser Adresse meldet sich in diesem Betrieb bereits jemand an.',
  },
  own_account: {
    en: 'This is your own account. Change your password under "My account".',
    de: 'Das ist Ihr eigenes Konto. Ändern Sie Ihr Passwort unter "Mein Konto".',
  },
  several_businesses: {
    en: 'This sign-in fits several businesses. Choose one.',
    de: 'Diese Anmeldung passt zu mehreren Betrieben. Bitte einen wählen.',
  },
  last_administrator: {
    en: 'This is the only person with the role "Verwaltung". Give somebody else this role first.',
    de: 'Das ist die einzige Person mit der Rolle "Verwaltung". Bitte diese Rolle zuerst jemand anderem geben.',
  },
  too_many_sign_ins: {
    en: 'Too many attempts to sign in. Wait for as many seconds as "Retry-After" says, then try again.',
    de: 'Zu viele Anmeldeversuche. Bitte so viele Sekunden warten, wie "Retry-After" angibt, dann erneut versuchen.',
  },
  too_many_streams: {
    en: 'Too many pages follow the requests at once. Close some of them.',
    de: 'Zu viele Seiten verfolgen gleichzeitig die Anfragen. Bitte einige schließen.',
  },
  not_recognised: {
    en: 'This path and method are not part of the API. Check both.',
    de: 'Diesen Pfad gibt es mit dieser Methode nicht. Bitte beides prüfen.',
  },
  not_found: {
    en: 'There is nothing here.',
    de: 'Hier gibt es nichts.',
  },
  conflict: {
    en: 'Another object already has this value, which must be unique. See "field" and "id".',
    de: 'Ein anderes Objekt hat bereits diesen Wert, der eindeutig sein muss. Siehe "field" und "id".',
  },
  has_dependants: {
    en: 'Other objects belong to this one. Delete or move them first; "dependants" names them.',
    de: 'Andere Objekte gehören zu diesem. Bitte zuerst löschen oder umhängen; "dependants" nennt sie.',
  },
  request_in_progress: {
    en: 'A request with the same Idempotency-Key is under way. Try again in a moment.',
    de: 'Eine Anfrage mit demselben Idempotency-Key läuft gerade. Bitte gleich erneut versuchen.',
  },
  version_mismatch: {
    en: 'The object has another version than "If-Match" names. Read it again, then decide.',
    de: 'Das Objekt hat eine andere Version, als "If-Match" nennt. Bitte neu lesen, dann entscheiden.',
  },
  idempotency_key_reused: {
    en: 'This Idempotency-Key has been used with another body. Use a new key for a new request.',
    de: 'Dieser Idempotency-Key wurde mit einem anderen Inhalt verwendet. Bitte für eine neue Anfrage einen neuen wählen.',
  },
  content_type: {
    en: 'Send the body as "Content-Type: application/json" (an import as application/x-ndjson), in UTF-8 and without compression.',
    de: 'Bitte den Inhalt als "Content-Type: application/json" senden (einen Import als application/x-ndjson), in UTF-8 und unkomprimiert.',
  },
  body_too_large: {
    en: 'The body is too large. Send a smaller request.',
    de: 'Der Inhalt ist zu groß. Bitte eine kleinere Anfrage senden.',
  },
  headers_too_large: {
    en: 'The headers are too large. Send a smaller request.',
    de: 'Die Header sind zu groß. Bitte eine kleinere Anfrage senden.',
  },
  line_too_long: {
    en: 'This line is longer than a line may be.',
    de: 'Diese Zeile ist länger, als eine Zeile sein darf.',
  },
  import_expired: {
    en: 'The import took too long and was undone. Send fewer lines.',
    de: 'Der Import dauerte zu lange und wurde verworfen. Bitte weniger Zeilen senden.',
  },
  import_idle: {
    en: 'No complete line came for 30 seconds. Send the rest again.',
    de: '30 Sekunden lang kam keine vollständige Zeile. Bitte den Rest erneut senden.',
  },
  import_too_slow: {
    en: 'Another import needed this place. Send the rest again, without pauses.',
    de: 'Ein anderer Import brauchte den Platz. Bitte den Rest zügig erneut senden.',
  },
  too_many_imports: {
    en: 'Other imports are running. Wait a moment, then try again.',
    de: 'Es laufen bereits andere Importe. Bitte kurz warten, dann erneut versuchen.',
  },
  too_many_at_once: {
    en: 'Too many requests of yours are under way at the same time. Wait for answers before you send more.',
    de: 'Zu viele Ihrer Anfragen sind gleichzeitig unterwegs. Warten Sie Antworten ab, bevor Sie weitere senden.',
  },
  rate_limited: {
    en: 'Too many requests. Wait for as many seconds as "Retry-After" says, then try again.',
    de: 'Zu viele Anfragen. Bitte so viele Sekunden warten, wie "Retry-After" angibt, dann erneut versuchen.',
  },
  too_many_failed_authentications: {
    en: 'Too many requests without a valid API key from this address. Check the key, then try again later.',
    de: 'Zu viele Anfragen ohne gültigen API-Schlüssel von dieser Adresse. Bitte den Schlüssel prüfen und später erneut versuchen.',
  },
  internal_error: {
    en: 'Something went wrong on our side. Try again later; if it stays, tell support the request id.',
    de: 'Bei uns ist etwas schiefgegangen. Bitte später erneut versuchen; bleibt es so, dem Support die requestId nennen.',
  },
  overloaded: {
    en: 'The service has more to do than it can. Nothing was stored. Please try again in a moment.',
    de: 'Der Dienst hat mehr zu tun, als er schafft. Es wurde nichts gespeichert. Bitte versuchen Sie es gleich noch einmal.',
  },
  database_unavailable: {
    en: 'The database does not answer at the moment. Try again later.',
    de: 'Die Datenbank antwortet zurzeit nicht. Bitte später erneut versuchen.',
  },

  required: { en: 'This field is required.', de: 'Dieses Feld ist erforderlich.' },
  required_one_of: {
    en: 'At least one of these is required: {fields}.',
    de: 'Mindestens eines davon ist erforderlich: {fields}.',
  },
  ambiguous: {
    en: 'Send either this or {other}, not both.',
    de: 'Bitte entweder dieses Feld oder {other} senden, nicht beide.',
  },
  type: { en: 'This must be of type {type}.', de: 'Hier muss der Typ {type} stehen.' },
  blank: {
    en: 'This must hold at least one character that is not white space.',
    de: 'Hier muss mindestens ein Zeichen stehen, das kein Leerzeichen ist.',
  },
  too_long: {
    en: 'This may have at most {max} characters.',
    de: 'Hier dürfen höchstens {max} Zeichen stehen.',
  },
  too_short: {
    en: 'This must have at least {min} characters.',
    de: 'Hier müssen mindestens {min} Zeichen stehen.',
  },
  too_common: {
    en: 'More than {max} places hold this text. Name a longer one.',
    de: 'Der Text kommt an über {max} Stellen vor. Bitte länger angeben.',
  },
  too_easy: {
    en: 'This password is easy to guess. A few unrelated words are better.',
    de: 'Dieses Passwort ist leicht zu erraten. Besser sind ein paar Wörter ohne Zusammenhang.',
  },
  wrong_password: { en: 'This is not the present password.', de: 'Das ist nicht das bisherige Passwort.' },
  too_small: { en: 'This must be at least {min}.', de: 'Der Wert muss mindestens {min} sein.' },
  too_large: { en: 'This must be at most {max}.', de: 'Der Wert darf höchstens {max} sein.' },
  too_many_items: {
    en: 'This may have at most {max} items.',
    de: 'Hier dürfen höchstens {max} Einträge stehen.',
  },
  invalid_choice: { en: 'This must be one of: {choices}.', de: 'Erlaubt sind nur: {choices}.' },
  invalid_uuid: {
    en: 'This must be a UUID of 36 characters with hyphens.',
    de: 'Hier muss eine UUID mit 36 Zeichen samt Bindestrichen stehen.',
  },
  invalid_date: {
    en: 'This must be an existing day in the form YYYY-MM-DD.',
    de: 'Hier muss ein Tag in der Form JJJJ-MM-TT stehen, den es gibt.',
  },
  invalid_email: { en: 'This must be an e-mail address.', de: 'Hier muss eine E-Mail-Adresse stehen.' },
  invalid_time_zone: {
    en: 'This must be the IANA name of a time zone, such as Europe/Berlin.',
    de: 'Hier muss der IANA-Name einer Zeitzone stehen, etwa Europe/Berlin.',
  },
  invalid_timestamp: {
    en: 'This must be a moment with its time zone, such as 2026-01-31T08:00:00Z.',
    de: 'Hier muss ein Zeitpunkt mit Zeitzone stehen, etwa 2026-01-31T08:00:00Z.',
  },
  invalid_gtin: {
    en: 'This must be a GTIN of 8 to 14 digits with a right check digit.',
    de: 'Hier muss eine GTIN mit 8 bis 14 Ziffern und richtiger Prüfziffer stehen.',
  },
  invalid_currency: {
    en: 'This must be a currency code after ISO 4217, such as EUR.',
    de: 'Hier muss ein Währungscode nach ISO 4217 stehen, etwa EUR.',
  },
  invalid_unit_code: {
    en: 'This must be a unit code after UN/ECE Recommendation 20, such as H87.',
    de: 'Hier muss ein Einheitencode nach UN/ECE-Empfehlung 20 stehen, etwa H87.',
  },
  invalid_cursor: {
    en: 'This is not a cursor of this list in this order. Begin without one.',
    de: 'Das ist kein Cursor dieser Liste in dieser Reihenfolge. Bitte ohne ihn beginnen.',
  },
  invalid_text: {
    en: 'This text holds a NUL character or half of a surrogate pair, or is not valid UTF-8.',
    de: 'Dieser Text enthält ein NUL-Zeichen oder ein halbes Ersatzzeichenpaar oder ist kein gültiges UTF-8.',
  },
  invalid_json: {
    en: 'The body must be one JSON object.',
    de: 'Der Inhalt muss ein JSON-Objekt sein.',
  },
  date_order: {
    en: 'This must not be before {other}.',
    de: 'Dieser Tag darf nicht vor {other} liegen.',
  },
  forbidden_name: {
    en: 'The name "__proto__" is not allowed in a body.',
    de: 'Der Name "__proto__" ist im Inhalt nicht erlaubt.',
  },
  number_out_of_range: {
    en: 'This number is larger than a JSON number can be.',
    de: 'Diese Zahl ist größer, als eine JSON-Zahl sein kann.',
  },
  out_of_range: {
    en: 'This must be a whole number from {min} to {max}.',
    de: 'Hier muss eine ganze Zahl von {min} bis {max} stehen.',
  },
  too_deep: {
    en: 'This is nested more than {max} levels deep.',
    de: 'Das ist mehr als {max} Ebenen tief verschachtelt.',
  },
  too_precise: {
    en: 'This number has more than {max} digits or decimal places.',
    de: 'Diese Zahl hat mehr als {max} Stellen oder Nachkommastellen.',
  },
  reference_not_found: {
    en: 'There is no {resource} with this id.',
    de: 'Mit dieser Id gibt es nichts vom Typ {resource}.',
  },
  differs_from_path: {
    en: 'This must be the same as in the path, or absent.',
    de: 'Hier muss dasselbe stehen wie im Pfad, oder nichts.',
  },
  unknown_parameter: {
    en: 'There is no such parameter. Known are: {known}.',
    de: 'Diesen Parameter gibt es nicht. Bekannt sind: {known}.',
  },
  repeated_parameter: {
    en: 'This parameter may be given once only.',
    de: 'Dieser Parameter darf nur einmal angegeben werden.',
  },

  unresolved_reference: {
    en: 'This id names nothing that is stored here yet.',
    de: 'Diese Id benennt noch nichts, was hier gespeichert ist.',
  },
  unknown_shape: {
    en: 'An entry has a shape that cannot be shown or planned with.',
    de: 'Ein Eintrag hat eine Form, die nicht angezeigt und nicht verplant werden kann.',
  },
  half_position: {
    en: 'Of the position only one of latitude and longitude is known.',
    de: 'Von der Position ist nur Breiten- oder Längengrad bekannt.',
  },
  no_position: {
    en: 'The position is not known, so this is missing on the map.',
    de: 'Die Position ist nicht bekannt, daher fehlt der Eintrag auf der Karte.',
  },
  probable_duplicate: {
    en: 'There is another one with the same name in the same place.',
    de: 'Es gibt noch einen Eintrag mit demselben Namen am selben Ort.',
  },
  validity_ended: {
    en: 'The validity has ended.',
    de: 'Die Gültigkeit ist abgelaufen.',
  },
};

/** Whether a text is a code that there is a sentence for. */
export function isCode(code: string): boolean {
  return Object.hasOwn(messages, code);
}

export function text(
  code: ErrorCode | FaultCode | AttentionCode,
  language: Language,
  params: object = {},
): string {
  return messages[code][language].replace(/\{(\w+)\}/g, (_, name) => {
    const value = (params as Record<string, unknown>)[name];
    return Array.isArray(value) ? value.join(', ') : String(value);
  });
}

/** The language that an Accept-Language header prefers among ours (the first of equals); English where it names neither. */
export function preferredLanguage(header: string | undefined): Language {
  let preferred: Language = 'en';
  let highest = 0;
  for (const part of (header ?? '').slice(0, 500).split(',')) {
    const match = /^\s*(en|de)(?:-[a-z0-9-]*)?\s*(?:;\s*q\s*=\s*([01](?:\.\d*)?)\s*)?$/i.exec(part);
    const weight = Number(match?.[2] ?? 1);
    if (match && weight > highest) {
      preferred = match[1]!.toLowerCase() as Language;
      highest = weight;
    }
  }
  return preferred;
}
