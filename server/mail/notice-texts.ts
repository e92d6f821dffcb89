// Every mail that Stamm sends, in both languages. Plain text; a link is the only secret that one may hold.
import type { Language } from '../messages.ts';

interface NoticeText {
  subject: string;
  text: string;
}

const ignore = {
  de: 'Waren Sie das nicht, sprechen Sie bitte sofort mit Ihrer Verwaltung.',
  en: 'If this was not you, talk to your administrator immediately.',
};

const notices = {
  invitation: {
    de: {
      subject: 'Einladung zu Stamm',
      text: '{actor} lädt Sie zu {business} ein.\n\nLegen Sie mit diesem Link Ihr Konto an. Er gilt sieben Tage und nur einmal:\n{link}\n\nKennen Sie {business} nicht, löschen Sie diese Nachricht.',
    },
    en: {
      subject: 'Invitation to Stamm',
      text: '{actor} invites you to {business}.\n\nCreate your account with this link. It works once, within seven days:\n{link}\n\nIf you do not know {business}, delete this message.',
    },
  },
  resetLink: {
    de: {
      subject: 'Neues Passwort festlegen',
      text: 'Jemand hat für Ihr Konto bei {business} ein neues Passwort angefordert.\n\nLegen Sie es mit diesem Link fest. Er gilt eine Stunde und nur einmal:\n{link}\n\nWaren Sie das nicht, löschen Sie diese Nachricht. Ihr Passwort bleibt, wie es ist.',
    },
    en: {
      subject: 'Set a new password',
      text: 'Somebody asked for a new password for your account at {business}.\n\nSet it with this link. It works once, within an hour:\n{link}\n\nIf this was not you, delete this message. Your password stays as it is.',
    },
  },
  resetLinkMade: {
    de: {
      subject: 'Link für ein neues Passwort erstellt',
      text: `{actor} hat einen Link erstellt, mit dem das Passwort Ihres Kontos bei {business} neu festgelegt werden kann.\n\nHaben Sie nicht darum gebeten, sprechen Sie bitte sofort mit Ihrer Verwaltung.`,
    },
    en: {
      subject: 'Password link created',
      text: '{actor} created a link that sets a new password for your account at {business}.\n\nIf you did not ask for it, talk to your administrator immediately.',
    },
  },
  passwordChanged: {
    de: {
      subject: 'Ihr Passwort wurde geändert',
      text: `Das Passwort Ihres Kontos bei {business} wurde geändert. Alle anderen Geräte wurden abgemeldet.\n\n${ignore.de}`,
    },
    en: {
      subject: 'Your password was changed',
      text: `The password of your account at {business} was changed. All other devices were signed out.\n\n${ignore.en}`,
    },
  },
  emailChanged: {
    de: {
      subject: 'Ihre E-Mail-Adresse wurde geändert',
      text: `Bei {business} melden Sie sich jetzt mit {email} an, nicht mehr mit dieser Adresse.\n\n${ignore.de}`,
    },
    en: {
      subject: 'Your e-mail address was changed',
      text: `You now sign in to {business} with {email}, and no longer with this address.\n\n${ignore.en}`,
    },
  },
  newDevice: {
    de: {
      subject: 'Anmeldung von einem neuen Gerät',
      text: `Von einem neuen Gerät hat sich jemand mit Ihrem Konto bei {business} angemeldet.\n\nAdresse: {address}\nBrowser: {userAgent}\n\n${ignore.de}`,
    },
    en: {
      subject: 'Sign-in from a new device',
      text: `Somebody signed in to your account at {business} from a new device.\n\nAddress: {address}\nBrowser: {userAgent}\n\n${ignore.en}`,
    },
  },
  roleChanged: {
    de: {
      subject: 'Ihre Rolle wurde geändert',
      text: '{actor} hat Ihnen bei {business} die Rolle {role} gegeben.',
    },
    en: { subject: 'Your role was changed', text: '{actor} gave you the role {role} at {business}.' },
  },
  personRemoved: {
    de: {
      subject: 'Ihr Konto wurde entfernt',
      text: '{actor} hat Ihr Konto bei {business} entfernt. Sie können sich dort nicht mehr anmelden.',
    },
    en: {
      subject: 'Your account was removed',
      text: '{actor} removed your account at {business}. You can no longer sign in there.',
    },
  },
  keyCreated: {
    de: {
      subject: 'Neuer API-Schlüssel',
      text: '{actor} hat für {business} einen neuen API-Schlüssel erstellt (…{lastFour}). Ein bisheriger Schlüssel gilt nicht mehr.',
    },
    en: {
      subject: 'New API key',
      text: '{actor} created a new API key for {business} (…{lastFour}). An earlier key no longer works.',
    },
  },
  keyDeleted: {
    de: {
      subject: 'API-Schlüssel gelöscht',
      text: '{actor} hat den API-Schlüssel von {business} gelöscht. Andere Systeme werden abgewiesen.',
    },
    en: {
      subject: 'API key deleted',
      text: '{actor} deleted the API key of {business}. Other systems are refused.',
    },
  },
  webhookFailed: {
    de: {
      subject: 'Webhook angehalten',
      text: 'Stamm konnte drei Tage lang keine Änderungen von {business} an {url} senden und hat den Webhook angehalten. Es geht nichts verloren: Sobald der Empfänger wieder antwortet, setzen Sie den Webhook unter Einstellungen › API & Schnittstellen fort.',
    },
    en: {
      subject: 'Webhook paused',
      text: 'For three days Stamm could not send changes of {business} to {url}, and has paused the webhook. Nothing is lost: once the receiver answers again, resume the webhook under Settings › API & interfaces.',
    },
  },
  webhookGone: {
    de: {
      subject: 'Webhook angehalten',
      text: 'Der Empfänger {url} nimmt keine Änderungen von {business} mehr an (Status 410). Stamm hat den Webhook angehalten. Ist das ein Versehen, setzen Sie ihn unter Einstellungen › API & Schnittstellen fort; sonst löschen Sie ihn dort.',
    },
    en: {
      subject: 'Webhook paused',
      text: 'The receiver {url} no longer accepts changes of {business} (status 410). Stamm has paused the webhook. If this is a mistake, resume it under Settings › API & interfaces; otherwise delete it there.',
    },
  },
} satisfies Record<string, Record<Language, NoticeText>>;

export type NoticeKind = keyof typeof notices;
export type NoticeValues = Record<string, string>;

/** German and then English where nobody knows the language. */
export function writeNotice(kind: NoticeKind, language: Language | null, values: NoticeValues): NoticeText {
  const [first, second] = (language ? [language] : (['de', 'en'] as const)).map((one) => {
    const { subject, text } = notices[kind][one];
    const role = roleTitles[one][values.role ?? ''];
    return { subject, text: fill(text, role ? { ...values, role } : values) };
  });
  if (!second) return { ...first!, text: `${first!.text}\n` };
  return {
    subject: `${first!.subject} / ${second.subject}`,
    text: `${first!.text}\n\n– – –\n\n${second.text}\n`,
  };
}

const roleTitles: Record<Language, Record<string, string>> = {
  de: { VERWALTUNG: 'Verwaltung', BUERO: 'Büro', PFLEGE: 'Pflege' },
  en: { VERWALTUNG: 'Administration', BUERO: 'Office', PFLEGE: 'Care' },
};

/** Names are chosen by people: on one line and short, they cannot pretend to be another part of the mail. */
function fill(text: string, values: NoticeValues): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return name === 'link'
      ? value
      : value
          .replaceAll(/[\p{C}\s]+/gu, ' ')
          .trim()
          .slice(0, 200);
  });
}
