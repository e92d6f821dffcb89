// The language of the app: the chosen one, else the browser's, else English. Only the texts of one are loaded.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { Texts } from './en.ts';

export const languages = ['de', 'en'] as const;
export type Language = (typeof languages)[number];

export const languageNames: Record<Language, string> = { de: 'Deutsch', en: 'English' };

const storageKey = 'stamm-language';

const loaders: Record<Language, () => Promise<Texts>> = {
  de: async () => (await import('./de.ts')).de,
  en: async () => (await import('./en.ts')).en,
};

function isLanguage(text: string | null | undefined): text is Language {
  return languages.includes(text as Language);
}

function preferredLanguage(): Language {
  const chosen = localStorage.getItem(storageKey);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en';
}

export async function startTexts(): Promise<void> {
  const language = preferredLanguage();
  await i18next.use(initReactI18next).init({
    lng: language,
    resources: { [language]: { translation: await loaders[language]() } },
    // React escapes.
    interpolation: { escapeValue: false },
  });
  document.documentElement.lang = language;
}

export function currentLanguage(): Language {
  return i18next.language as Language;
}

export async function switchLanguage(language: Language): Promise<void> {
  localStorage.setItem(storageKey, language);
  if (!i18next.hasResourceBundle(language, 'translation')) {
    i18next.addResourceBundle(language, 'translation', await loaders[language]());
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
