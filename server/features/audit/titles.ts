// Labels of the events and columns of the audit record.
import type { AuditEvent } from '../../access/audit-log.ts';
import type { Language } from '../../messages.ts';

type Titles = Record<Language, string>;

export const eventTitles: Record<AuditEvent, Titles> = {
  SIGNED_IN: { en: 'Signed in', de: 'Angemeldet' },
  SIGN_IN_FAILED: { en: 'Sign-in failed', de: 'Anmeldung fehlgeschlagen' },
  SIGNED_OUT: { en: 'Signed out', de: 'Abgemeldet' },
  SIGNED_OUT_EVERYWHERE: { en: 'Signed out everywhere', de: 'Überall abgemeldet' },
  PASSWORD_CHANGED: { en: 'Password changed', de: 'Passwort geändert' },
  PASSWORD_RESET_REQUESTED: { en: 'Password reset requested', de: 'Neues Passwort angefordert' },
  PASSWORD_RESET: { en: 'Password reset', de: 'Passwort zurückgesetzt' },
  PASSKEY_ADDED: { en: 'Passkey added', de: 'Passkey hinzugefügt' },
  PASSKEY_REMOVED: { en: 'Passkey removed', de: 'Passkey entfernt' },
  RECOVERY_CODES_CREATED: { en: 'Recovery codes created', de: 'Notfallcodes erstellt' },
  RECOVERY_CODE_USED: { en: 'Recovery code used', de: 'Notfallcode verwendet' },
  PERSON_INVITED: { en: 'Person invited', de: 'Person eingeladen' },
  INVITATION_WITHDRAWN: { en: 'Invitation withdrawn', de: 'Einladung zurückgezogen' },
  PERSON_ADDED: { en: 'Person added', de: 'Person hinzugefügt' },
  PERSON_CHANGED: { en: 'Person changed', de: 'Person geändert' },
  PERSON_REMOVED: { en: 'Person removed', de: 'Person entfernt' },
  KEY_CREATED: { en: 'API key created', de: 'API-Schlüssel erstellt' },
  KEY_DELETED: { en: 'API key deleted', de: 'API-Schlüssel gelöscht' },
  CALENDAR_CREATED: { en: 'Calendar address created', de: 'Kalenderadresse erstellt' },
  CALENDAR_REMOVED: { en: 'Calendar address removed', de: 'Kalenderadresse entfernt' },
  WEBHOOK_CREATED: { en: 'Webhook created', de: 'Webhook angelegt' },
  WEBHOOK_CHANGED: { en: 'Webhook changed', de: 'Webhook geändert' },
  WEBHOOK_DELETED: { en: 'Webhook deleted', de: 'Webhook gelöscht' },
  DATA_EXPORTED: { en: 'Data exported', de: 'Daten exportiert' },
  DATA_ERASED: { en: 'Personal data erased', de: 'Personendaten gelöscht' },
  SETTINGS_CHANGED: { en: 'Settings changed', de: 'Einstellungen geändert' },
  BUSINESS_CREATED: { en: 'Business created', de: 'Betrieb angelegt' },
  BUSINESS_RESTORED: { en: 'Backup restored', de: 'Sicherung eingespielt' },
  TEST_BUSINESS_CREATED: { en: 'Test business created', de: 'Testbetrieb angelegt' },
  TEST_BUSINESS_FILLED: { en: 'Test business filled', de: 'Testbetrieb befüllt' },
  TEST_BUSINESS_RESET: { en: 'Test business reset', de: 'Testbetrieb zurückgesetzt' },
  TEST_BUSINESS_REMOVED: { en: 'Test business removed', de: 'Testbetrieb entfernt' },
};

export const actorTypeTitles: Record<string, Titles> = {
  PERSON: { en: 'Person', de: 'Person' },
  KEY: { en: 'API key', de: 'API-Schlüssel' },
  COMMAND_LINE: { en: 'Operator', de: 'Betreiber' },
  STRANGER: { en: 'Not signed in', de: 'Nicht angemeldet' },
};

/** In the order of the cells. */
export const columnTitles: Record<Language, readonly string[]> = {
  en: [
    'Time',
    'Event',
    'Type',
    'Who',
    'E-mail',
    'Person id',
    'About',
    'Id',
    'Details',
    'Address',
    'Browser',
    'Request id',
  ],
  de: [
    'Zeit',
    'Ereignis',
    'Art',
    'Wer',
    'E-Mail',
    'Personen-ID',
    'Betrifft',
    'ID',
    'Einzelheiten',
    'Adresse',
    'Browser',
    'Anfrage-ID',
  ],
};
