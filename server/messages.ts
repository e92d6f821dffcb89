// Every sentence that an API answer can hold, in both languages. Codes are the contract; sentences may change.
import type { ErrorCode, FaultCode } from './errors.ts';

export type Language = 'en' | 'de';

const messages: Record<ErrorCode | FaultCode, Record<Language, string>> = {
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
  content_type: {
    en: 'Send the body as "Content-Type: application/json", in UTF-8 and without compression.',
    de: 'Bitte den Inhalt als "Content-Type: application/json" senden, in UTF-8 und unkomprimiert.',
  },
  body_too_large: {
    en: 'The body is too large. Send a smaller request.',
    de: 'Der Inhalt ist zu groß. Bitte eine kleinere Anfrage senden.',
  },
  headers_too_large: {
    en: 'The headers are too large. Send a smaller request.',
    de: 'Die Header sind zu groß. Bitte eine kleinere Anfrage senden.',
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
  database_unavailable: {
    en: 'The database does not answer at the moment. Try again later.',
    de: 'Die Datenbank antwortet zurzeit nicht. Bitte später erneut versuchen.',
  },

  required: { en: 'This field is required.', de: 'Dieses Feld ist erforderlich.' },
  type: { en: 'This must be of type {type}.', de: 'Hier muss der Typ {type} stehen.' },
  blank: {
    en: 'This must hold at least one character that is not white space.',
    de: 'Hier muss mindestens ein Zeichen stehen, das kein Leerzeichen ist.',
  },
  too_long: {
    en: 'This may have at most {max} characters.',
    de: 'Hier dürfen höchstens {max} Zeichen stehen.',
  },
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
};

export function text(code: ErrorCode | FaultCode, language: Language, params: object = {}): string {
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
