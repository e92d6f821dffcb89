// The language of the app: the chosen one, else the browser's, else English. Only the texts of one are loaded, and of
// these the parts that a page needs.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

export const languages = ['de', 'en'] as const;
export type Language = (typeof languages)[number];

export const languageNames: Record<Language, string> = { de: 'Deutsch', en: 'English' };

const storageKey = 'stamm-language';

type TextPart =
  | 'common'
  | 'access'
  | 'import'
  | 'requests'
  | 'road'
  | 'search'
  | 'settings'
  | 'tables'
  | 'visits';

const neededParts = new Set<TextPart>(['common']);

function isLanguage(text: string | null | undefined): text is Language {
  return languages.includes(text as Language);
}

function preferredLanguage(): Language {
  const chosen = localStorage.getItem(storageKey);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en';
}

async function readPart(language: Language, part: TextPart): Promise<object> {
  const { texts } = (await import(`./${language}/${part}.ts`)) as { texts: object };
  return texts;
}

async function loadPart(language: Language, part: TextPart): Promise<void> {
  i18next.addResourceBundle(language, 'translation', await readPart(language, part));
}

export async function startTexts(): Promise<void> {
  const language = preferredLanguage();
  await i18next.use(initReactI18next).init({
    lng: language,
    resources: { [language]: { translation: await readPart(language, 'common') } },
    // React escapes.
    interpolation: { escapeValue: false },
  });
  document.documentElement.lang = language;
}

/** Loads a module together with texts that it shows beside the common ones. texts.test.ts finds modules that lack some. */
export function withTexts<Module>(parts: readonly TextPart[], load: () => Promise<Module>) {
  return async (): Promise<Module> => {
    for (const part of parts) neededParts.add(part);
    const texts = parts.map((part) => loadPart(currentLanguage(), part));
    const [module] = await Promise.all([load(), ...texts]);
    return module;
  };
}

export function currentLanguage(): Language {
  return i18next.language as Language;
}

export async function switchLanguage(language: Language): Promise<void> {
  localStorage.setItem(storageKey, language);
  await Promise.all([...neededParts].map((part) => loadPart(language, part)));
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
