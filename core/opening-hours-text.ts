// Opening hours as people write them: "Mo–Fr 08:00–12:00, 13:00–17:00; Sa 09:30–13:00".
import type { DayName } from './calendar-days.ts';
import {
  dateWord,
  dayList,
  readDate,
  readDays,
  readTime,
  splitEntries,
  type TextLanguage,
  timeSpan,
  writeDate,
  writeDayRanges,
} from './day-words.ts';
import type { OpeningHours } from './opening-hours.ts';

const words = {
  de: { from: 'ab', until: 'bis' },
  en: { from: 'from', until: 'until' },
} as const;

/** Days with the same times stand together. */
export function writeOpeningHours(items: readonly OpeningHours[], language: TextLanguage): string {
  const days: { day: DayName; rest: string }[] = [];
  for (let index = 0; index < items.length; ) {
    const { dayOfWeek: day } = items[index]!;
    const season = writeSeason(items[index]!, language);
    const times: string[] = [];
    for (; items[index]?.dayOfWeek === day && writeSeason(items[index]!, language) === season; index += 1) {
      times.push(`${items[index]!.opens}–${items[index]!.closes}`);
    }
    days.push({ day, rest: `${times.join(', ')}${season}` });
  }
  const groups: { days: DayName[]; rest: string }[] = [];
  for (const { day, rest } of days) {
    const last = groups.at(-1);
    if (last?.rest === rest) last.days.push(day);
    else groups.push({ days: [day], rest });
  }
  return groups.map(({ days, rest }) => `${writeDayRanges(days, language)} ${rest}`).join('; ');
}

function writeSeason({ validFrom, validUntil }: OpeningHours, language: TextLanguage): string {
  const { from, until } = words[language];
  const parts = [
    ...(validFrom ? [`${from} ${writeDate(validFrom, language)}`] : []),
    ...(validUntil ? [`${until} ${writeDate(validUntil, language)}`] : []),
  ];
  return parts.length > 0 ? ` (${parts.join(' ')})` : '';
}

const entry = new RegExp(
  `^(${dayList}|täglich|daily)\\s*:?\\s*(${unnamed(timeSpan)}(?:\\s*(?:,|/|und|and)\\s*${unnamed(timeSpan)})*|geschlossen|closed)` +
    `\\s*(?:\\(?\\s*(?:(?:ab|from)\\s+(${dateWord}))?\\s*(?:(?:bis|until)\\s+(${dateWord}))?\\s*\\)?)?$`,
);

function unnamed(pattern: string): string {
  return pattern.replace(/\((?!\?)/g, '(?:');
}

/** Undefined where the text is something else. */
export function readOpeningHours(text: string): OpeningHours[] | undefined {
  const items: OpeningHours[] = [];
  for (const part of splitEntries(text)) {
    const match = entry.exec(part);
    if (!match) return undefined;
    const [, dayText = '', times = '', from, until] = match;
    const season = {
      ...(from && { validFrom: readDate(from) }),
      ...(until && { validUntil: readDate(until) }),
    };
    if (Object.values(season).some((date) => date === undefined)) return undefined;
    const days = readDays(/^(täglich|daily)$/.test(dayText) ? 'mo-so' : dayText);
    for (const dayOfWeek of days) {
      for (const [, opening = '', closing = ''] of times.matchAll(new RegExp(timeSpan, 'g'))) {
        const [opens, closes] = [readTime(opening), readTime(closing)];
        if (!opens || !closes || opens === '24:00') return undefined;
        items.push({ dayOfWeek, opens, closes, ...season } as OpeningHours);
      }
    }
  }
  return items;
}
