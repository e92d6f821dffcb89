// Every sentence that an API answer can hold, in both languages. Codes are the contract; sentences may change.
import type { AttentionCode } from '../core/definition/codes.ts';
import type { ErrorCode, FieldErrorCode } from './errors.ts';

export type Language = 'en' | 'de';

const messages: Record<ErrorCode | FieldErrorCode | AttentionCode, Record<Language, string>> = {
  validation_failed: {
    en: 'Invalid data. "errors" lists every invalid field.',
    de: 'Ungültige Daten. Unter "errors" steht jedes fehlerhafte Feld.',
  },
  bad_request: {
    en: 'Malformed HTTP request.',
    de: 'Fehlerhafte HTTP-Anfrage.',
  },
  request_timeout: {
    en: 'The request did not arrive in time.',
    de: 'Die Anfrage kam nicht rechtzeitig vollständig an.',
  },
  key_missing: {
    en: 'The header "ApiKey" is missing.',
    de: 'Der Header "ApiKey" fehlt.',
  },
  key_malformed: {
    en: 'Malformed API key. Check for typos and missing characters.',
    de: 'Der API-Schlüssel ist unvollständig oder falsch geschrieben.',
  },
  key_unknown: {
    en: 'Unknown API key. Check it, or create a new one.',
    de: 'Unbekannter API-Schlüssel. Bitte prüfen oder neu erstellen.',
  },
  key_replaced: {
    en: 'This API key was replaced. Use the new one.',
    de: 'Dieser API-Schlüssel wurde ersetzt. Bitte den neuen verwenden.',
  },
  key_deleted: {
    en: 'This API key was deleted. Ask the office for a new one.',
    de: 'Dieser API-Schlüssel wurde gelöscht. Einen neuen gibt es bei der Verwaltung.',
  },
  session_missing: {
    en: 'Not signed in, or the session has ended. Sign in.',
    de: 'Nicht angemeldet oder Sitzung abgelaufen. Bitte anmelden.',
  },
  sign_in_failed: {
    en: 'Wrong e-mail address or password.',
    de: 'E-Mail-Adresse oder Passwort ist falsch.',
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
  too_many_views: {
    en: 'There are 200 views already. Delete one first.',
    de: 'Es gibt schon 200 Ansichten. Bitte löschen Sie zuerst eine.',
  },
  test_business_exists: {
    en: 'There is a test business already. Fill it again or remove it.',
    de: 'Es gibt schon einen Testbetrieb. Bitte neu befüllen oder entfernen.',
  },
  real_business_only: {
    en: 'Not available in the test business. Leave it first.',
    de: 'Im Testbetrieb nicht möglich. Bitte wechseln Sie zuerst zurück.',
  },
  business_changed: {
    en: 'You are in the other business now. Load the page again.',
    de: 'Sie sind inzwischen im anderen Betrieb. Bitte laden Sie die Seite neu.',
  },
  too_many_webhooks: {
    en: 'Ten webhooks are the most. Delete one first.',
    de: 'Mehr als zehn Webhooks sind nicht möglich. Bitte löschen Sie zuerst einen.',
  },
  too_many_passkeys: {
    en: 'You have the most passkeys allowed. Remove one first.',
    de: 'Mehr Passkeys sind nicht möglich. Bitte entfernen Sie zuerst einen.',
  },
  foreign_origin: {
    en: 'Cross-origin request rejected.',
    de: 'Die Anfrage kommt von einer fremden Seite.',
  },
  role_insufficient: {
    en: 'Your role does not allow this. "Office" may do it.',
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
    en: 'Only person with the role "Office". Give it to somebody else first.',
    de: 'Die einzige Person mit der Rolle "Verwaltung". Bitte zuerst weitergeben.',
  },
  too_many_sign_ins: {
    en: 'Too many sign-in attempts. Wait "Retry-After" seconds, then try again.',
    de: 'Zu viele Anmeldeversuche. Bitte etwas warten und erneut versuchen.',
  },
  not_recognised: {
    en: 'Unknown path or method. Check both.',
    de: 'Unbekannter Pfad oder unbekannte Methode. Bitte beides prüfen.',
  },
  not_found: {
    en: 'Not found.',
    de: 'Nicht gefunden.',
  },
  conflict: {
    en: 'This value is taken. "field" and "id" say where.',
    de: 'Der Wert ist schon vergeben. "field" und "id" sagen wo.',
  },
  has_dependants: {
    en: 'Other records belong to it: delete or move "dependants" first.',
    de: 'Es gehören noch Einträge dazu: zuerst "dependants" löschen oder verschieben.',
  },
  deleted: {
    en: 'The object is in the bin. Restore it, or allow its revival.',
    de: 'Der Eintrag liegt im Papierkorb. Bitte stellen Sie ihn wieder her.',
  },
  owner_deleted: {
    en: 'It belongs to a deleted record. Restore that one first.',
    de: 'Er gehört zu einem gelöschten Eintrag. Diesen bitte zuerst wiederherstellen.',
  },
  merged_object: {
    en: 'Merged into another record. Use the id of that record.',
    de: 'Mit einem anderen Eintrag zusammengeführt. Bitte dessen ID verwenden.',
  },
  too_many_references: {
    en: 'Too many records refer to it. Move some of them first.',
    de: 'Zu viele Einträge hängen daran. Bitte zuerst einige verschieben.',
  },
  request_in_progress: {
    en: 'A request with this Idempotency-Key is running. Retry shortly.',
    de: 'Eine Anfrage mit diesem Idempotency-Key läuft. Bitte gleich erneut versuchen.',
  },
  version_mismatch: {
    en: 'Somebody changed the record since you read it. Read it again.',
    de: 'Der Eintrag wurde inzwischen geändert. Bitte neu lesen.',
  },
  idempotency_key_reused: {
    en: 'This Idempotency-Key was used with another body. Use a new key.',
    de: 'Dieser Idempotency-Key gehört zu anderem Inhalt. Bitte einen neuen wählen.',
  },
  content_type: {
    en: 'Send "Content-Type: application/json" in UTF-8 (imports: application/x-ndjson).',
    de: 'Bitte "Content-Type: application/json" in UTF-8 senden (Importe: application/x-ndjson).',
  },
  content_encoding: {
    en: 'Unknown Content-Encoding. Use gzip, br, zstd, deflate or none.',
    de: 'Unbekanntes Content-Encoding. Bitte gzip, br, zstd, deflate oder keines verwenden.',
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
    en: 'This line is too long.',
    de: 'Diese Zeile ist zu lang.',
  },
  import_damaged: {
    en: 'The compressed data is damaged. Send the rest again.',
    de: 'Die komprimierten Daten sind beschädigt. Bitte den Rest erneut senden.',
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
  import_stopped: {
    en: 'The service restarts. Send the rest again.',
    de: 'Der Dienst startet neu. Bitte den Rest erneut senden.',
  },
  too_many_imports: {
    en: 'Other imports are running. Wait a moment, then try again.',
    de: 'Es laufen bereits andere Importe. Bitte kurz warten, dann erneut versuchen.',
  },
  too_many_at_once: {
    en: 'Too many concurrent requests. Wait for answers before you send more.',
    de: 'Zu viele gleichzeitige Anfragen. Bitte zuerst Antworten abwarten.',
  },
  rate_limited: {
    en: 'Too many requests. Wait "Retry-After" seconds, then try again.',
    de: 'Zu viele Anfragen. Bitte "Retry-After" Sekunden warten.',
  },
  too_many_failed_authentications: {
    en: 'Too many failed authentications from this address. Check the key.',
    de: 'Zu viele fehlgeschlagene Anmeldungen von dieser Adresse. Bitte den Schlüssel prüfen.',
  },
  internal_error: {
    en: 'Internal error. Try again; if it persists, contact support with the requestId.',
    de: 'Interner Fehler. Bitte erneut versuchen oder dem Support die requestId nennen.',
  },
  overloaded: {
    en: 'The service is overloaded. Nothing was stored. Try again shortly.',
    de: 'Der Dienst ist überlastet. Nichts wurde gespeichert. Bitte gleich erneut versuchen.',
  },
  shutting_down: {
    en: 'The service is shutting down. Use another node.',
    de: 'Der Dienst wird beendet. Bitte einen anderen Knoten verwenden.',
  },
  database_unavailable: {
    en: 'The database is unavailable. Try again later.',
    de: 'Die Datenbank ist nicht erreichbar. Bitte später erneut versuchen.',
  },
  outcome_unknown: {
    en: 'It may be stored already. Repeat it with the same Idempotency-Key.',
    de: 'Vielleicht schon gespeichert. Bitte mit demselben Idempotency-Key wiederholen.',
  },

  required: { en: 'Required.', de: 'Pflichtfeld.' },
  required_one_of: {
    en: 'At least one is required: {fields}.',
    de: 'Mindestens eine Angabe ist nötig: {fields}.',
  },
  ambiguous: {
    en: 'Must name the same record as {other}, or be absent.',
    de: 'Muss denselben Eintrag wie {other} nennen oder fehlen.',
  },
  type: { en: 'Must be of type {type}.', de: 'Muss vom Typ {type} sein.' },
  blank: {
    en: 'Must not be blank.',
    de: 'Darf nicht leer sein.',
  },
  too_long: {
    en: 'At most {max} characters.',
    de: 'Höchstens {max} Zeichen.',
  },
  too_short: {
    en: 'At least {min} characters.',
    de: 'Mindestens {min} Zeichen.',
  },
  too_common: {
    en: 'More than {max} places hold this text. Name a longer one.',
    de: 'Der Text kommt an über {max} Stellen vor. Bitte länger angeben.',
  },
  invalid_url: {
    en: 'Enter an address such as https://erp.example/stamm, without password.',
    de: 'Bitte eine Adresse wie https://erp.example/stamm ohne Passwort eingeben.',
  },
  https_required: {
    en: 'Must begin with https://, unless the operator sets WEBHOOK_ALLOW_PRIVATE.',
    de: 'Muss mit https:// beginnen. Für Tests im eigenen Netz: WEBHOOK_ALLOW_PRIVATE.',
  },
  private_address: {
    en: 'Must be reachable from the internet, unless the operator sets WEBHOOK_ALLOW_PRIVATE.',
    de: 'Muss aus dem Internet erreichbar sein. Für Tests im eigenen Netz: WEBHOOK_ALLOW_PRIVATE.',
  },
  address_of_real_business: {
    en: 'Your real business sends there. Choose another address for tests.',
    de: 'Dorthin sendet Ihr echter Betrieb. Bitte für Tests eine andere Adresse wählen.',
  },
  too_easy: {
    en: 'This password is easy to guess. A few unrelated words are better.',
    de: 'Dieses Passwort ist leicht zu erraten. Besser sind Wörter ohne Zusammenhang.',
  },
  too_complex: {
    en: 'This password cannot be judged. A few unrelated words are better.',
    de: 'Dieses Passwort lässt sich nicht prüfen. Besser sind Wörter ohne Zusammenhang.',
  },
  wrong_password: { en: 'Wrong current password.', de: 'Das bisherige Passwort ist falsch.' },
  too_small: { en: 'Must be at least {min}.', de: 'Muss mindestens {min} sein.' },
  too_large: { en: 'Must be at most {max}.', de: 'Darf höchstens {max} sein.' },
  too_many_items: {
    en: 'At most {max} items.',
    de: 'Höchstens {max} Einträge.',
  },
  invalid_choice: { en: 'Must be one of: {choices}.', de: 'Erlaubt: {choices}.' },
  invalid_uuid: {
    en: 'Must be a UUID of 36 characters with hyphens.',
    de: 'Muss eine UUID mit 36 Zeichen und Bindestrichen sein.',
  },
  invalid_date: {
    en: 'Must be an existing day, as YYYY-MM-DD.',
    de: 'Muss ein gültiger Tag sein, als JJJJ-MM-TT.',
  },
  invalid_time: { en: 'Must be a time, as HH:mm.', de: 'Muss eine Uhrzeit sein, als HH:mm.' },
  invalid_email: { en: 'Must be an e-mail address.', de: 'Muss eine E-Mail-Adresse sein.' },
  invalid_time_zone: {
    en: 'Must be an IANA time zone, such as Europe/Berlin.',
    de: 'Muss eine IANA-Zeitzone sein, etwa Europe/Berlin.',
  },
  invalid_timestamp: {
    en: 'Must be a timestamp with time zone, such as 2026-01-31T08:00:00Z.',
    de: 'Muss ein Zeitpunkt mit Zeitzone sein, etwa 2026-01-31T08:00:00Z.',
  },
  invalid_gtin: {
    en: 'Must be a GTIN: 8 to 14 digits, check digit included.',
    de: 'Muss eine GTIN mit 8 bis 14 Ziffern und gültiger Prüfziffer sein.',
  },
  invalid_currency: {
    en: 'Must be an ISO 4217 currency code, such as EUR.',
    de: 'Muss ein ISO-4217-Währungscode sein, etwa EUR.',
  },
  invalid_unit_code: {
    en: 'Must be a UN/ECE Recommendation 20 unit code, such as H87.',
    de: 'Muss ein Einheitencode nach UN/ECE-Empfehlung 20 sein, etwa H87.',
  },
  invalid_cursor: {
    en: 'Invalid cursor for this list. Start without one.',
    de: 'Ungültiger Cursor für diese Liste. Bitte ohne beginnen.',
  },
  not_printable: {
    en: 'Use printable ASCII characters only.',
    de: 'Nur druckbare ASCII-Zeichen verwenden.',
  },
  invalid_text: {
    en: 'Invalid text: NUL, lone surrogate or invalid UTF-8.',
    de: 'Ungültiger Text: NUL, einzelnes Ersatzzeichen oder ungültiges UTF-8.',
  },
  invalid_json: {
    en: 'The body must be a JSON object.',
    de: 'Der Inhalt muss ein JSON-Objekt sein.',
  },
  invalid_compression: {
    en: 'The body is not valid data of its Content-Encoding.',
    de: 'Der Inhalt passt nicht zu seinem Content-Encoding.',
  },
  date_order: {
    en: 'Must not be before {other}.',
    de: 'Darf nicht vor {other} liegen.',
  },
  too_many_days: {
    en: 'At most {max} days. Ask for the rest separately.',
    de: 'Höchstens {max} Tage. Den Rest getrennt abfragen.',
  },
  forbidden_name: {
    en: 'The name "__proto__" is not allowed in a body.',
    de: 'Der Name "__proto__" ist im Inhalt nicht erlaubt.',
  },
  number_out_of_range: {
    en: 'Number out of range.',
    de: 'Zahl außerhalb des Wertebereichs.',
  },
  out_of_range: {
    en: 'Must be a whole number from {min} to {max}.',
    de: 'Muss eine ganze Zahl von {min} bis {max} sein.',
  },
  too_deep: {
    en: 'Nested more than {max} levels deep.',
    de: 'Mehr als {max} Ebenen tief verschachtelt.',
  },
  too_precise: {
    en: 'More than {max} digits or decimal places.',
    de: 'Mehr als {max} Stellen oder Nachkommastellen.',
  },
  reference_not_found: {
    en: 'No {resource} has this id.',
    de: 'Kein Eintrag vom Typ {resource} hat diese ID.',
  },
  differs_from_path: {
    en: 'Must equal the path, or be absent.',
    de: 'Muss dem Pfad entsprechen oder fehlen.',
  },
  unknown_parameter: {
    en: 'Unknown parameter. Known: {known}.',
    de: 'Unbekannter Parameter. Bekannt: {known}.',
  },
  unknown_field: {
    en: 'Unknown field. Known: {known}.',
    de: 'Unbekanntes Feld. Bekannt: {known}.',
  },
  too_many_matches: {
    en: 'Too many matches. Add a word, or use a filter instead.',
    de: 'Zu viele Treffer. Bitte genauer suchen oder stattdessen filtern.',
  },
  repeated_parameter: {
    en: 'Give this parameter only once.',
    de: 'Bitte nur einmal angeben.',
  },

  unresolved_reference: {
    en: 'No record has this id yet.',
    de: 'Noch kein Eintrag hat diese ID.',
  },
  pending_reference: {
    en: 'Kept until a record has this external id.',
    de: 'Wird verknüpft, sobald ein Eintrag diese externe ID hat.',
  },
  unknown_shape: {
    en: 'An entry has an unknown shape and is not used for planning.',
    de: 'Ein Eintrag hat eine unbekannte Form und wird nicht eingeplant.',
  },
  half_position: {
    en: 'Latitude or longitude is missing.',
    de: 'Breiten- oder Längengrad fehlt.',
  },
  no_position: {
    en: 'No position: the site is not on the map.',
    de: 'Keine Position: Der Standort fehlt auf der Karte.',
  },
  probable_duplicate: {
    en: 'Another record has the same name in the same place.',
    de: 'Ein anderer Eintrag heißt am selben Ort genauso.',
  },
  validity_ended: {
    en: 'The validity has ended.',
    de: 'Die Gültigkeit ist abgelaufen.',
  },
  closed_visit: {
    en: 'A visit is skipped because the site is closed.',
    de: 'Ein Besuch entfällt, weil geschlossen ist.',
  },
  plan_failed: {
    en: 'The visits of this site cannot be planned.',
    de: 'Die Besuche dieses Standorts lassen sich nicht planen.',
  },
  no_employee: {
    en: 'Visits have no active employee.',
    de: 'Für die Besuche ist kein aktiver Mitarbeiter eingeteilt.',
  },
  unread_cell: {
    en: 'An import could not read a cell. The comment holds it.',
    de: 'Ein Import konnte eine Zelle nicht lesen. Sie steht in der Bemerkung.',
  },
};

/** Sentences that replace the one of their code where `param` is known. */
const variants: Partial<Record<ErrorCode | FieldErrorCode, Record<Language | 'param', string>>> = {
  required: {
    param: 'instead',
    en: 'Required: send {name} or {instead}.',
    de: 'Pflichtfeld: {name} oder {instead} angeben.',
  },
  not_recognised: {
    param: 'methods',
    en: 'Unknown method. This path takes {methods}.',
    de: 'Unbekannte Methode. Dieser Pfad erlaubt {methods}.',
  },
  invalid_json: {
    param: 'line',
    en: 'Line {line} must be a JSON object.',
    de: 'Zeile {line} muss ein JSON-Objekt sein.',
  },
};

/** Whether a text is a code that there is a sentence for. */
export function isCode(code: string): boolean {
  return Object.hasOwn(messages, code);
}

/** In both languages, with their placeholders. */
export function allSentences(): string[] {
  return [...Object.values(messages), ...Object.values(variants)].flatMap(({ de, en }) => [de, en]);
}

/** The sentence with its placeholders, such as {max}. */
export function sentenceOf(code: ErrorCode | FieldErrorCode | AttentionCode, language: Language): string {
  return messages[code][language];
}

const none: Record<Language, string> = { en: 'none', de: 'keiner' };

export function text(
  code: ErrorCode | FieldErrorCode | AttentionCode,
  language: Language,
  params: object = {},
): string {
  const variant = variants[code as ErrorCode | FieldErrorCode];
  const sentence = variant && Object.hasOwn(params, variant.param) ? variant : messages[code];
  return sentence[language].replace(/\{(\w+)\}/g, (_, name) => {
    const value = (params as Record<string, unknown>)[name];
    return Array.isArray(value) ? value.join(', ') || none[language] : String(value);
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
