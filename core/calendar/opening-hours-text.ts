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

const everyDay = 'täglich|tägl\\.?|tgl\\.?|daily|jeden tag|dagelijks|elke dag';
const workingDays = 'werktags|werktäglich|wochentags|weekdays|(?:op )?werkdagen|doordeweeks';
const days = `${dayList}|${everyDay}|${workingDays}`;
const times = `(?:v[ao]n\\s+)?${unnamed(timeSpan)}(?:\\s*(?:,|/|\\+|&|und|u\\.|and|en)\\s*(?:v[ao]n\\s+)?${unnamed(timeSpan)})*`;
const allDay =
  '24\\s*(?:h|std\\.?|stunden|hours|uur)|24/7|7/24|rund um die uhr|durchgehend|ganztägig|around the clock';
const closed = 'geschlossen|closed|zu|ruhetag|gesloten';
const season = `(?:\\(?\\s*(?:(?:ab|from)\\s+(${dateWord}))?\\s*(?:(?:bis|until)\\s+(${dateWord}))?\\s*\\)?)?`;
const entry = new RegExp(`^(${days})\\s*:?\\s*(${times}|${allDay}|${closed})\\s*${season}$`);
/** "8–17 Uhr Mo–Fr" */
const timesFirst = new RegExp(`^(${times})\\s*\\(?(?<=[\\s(])(${days})\\)?$`);
const onlyAllDay = new RegExp(`^(?:${allDay})$`);
const isAllDay = new RegExp(`^(?:${allDay})`);
/** A day behind a time begins the next entry: "Mo–Do 7–15:30, Fr 7–13". */
const nextDay = new RegExp(
  `(?<=[\\dh]|uhr|uur|${closed}|stunden)\\s*(?:[,/|·•&+]|und|u\\.|and|en)?\\s+(?=(?:${days})(?![a-zäöüß]))`,
);

function unnamed(pattern: string): string {
  return pattern.replace(/\((?!\?)/g, '(?:');
}

/** Undefined where the text is something else. */
export function readOpeningHours(text: string): OpeningHours[] | undefined {
  const items: OpeningHours[] = [];
  for (const part of splitEntries(text).flatMap(splitAtDays)) {
    const match = entry.exec(daysFirst(part));
    if (!match) return undefined;
    const [, dayText = '', written = '', from, until] = match;
    const times = isAllDay.test(written) ? '0-24' : written;
    const season = {
      ...(from && { validFrom: readDate(from) }),
      ...(until && { validUntil: readDate(until) }),
    };
    if (Object.values(season).some((date) => date === undefined)) return undefined;
    for (const dayOfWeek of readNamedDays(dayText)) {
      for (const [, opening = '', closing = ''] of times.matchAll(new RegExp(timeSpan, 'g'))) {
        const [opens, closes] = [readTime(opening), readTime(closing)];
        if (!opens || !closes || opens === '24:00') return undefined;
        items.push({ dayOfWeek, opens, closes, ...season } as OpeningHours);
      }
    }
  }
  return items;
}

function splitAtDays(part: string): string[] {
  const [first = '', ...others] = part.split(nextDay);
  return timesFirst.test(part) ? [part] : [first, ...others].filter(Boolean);
}

function daysFirst(part: string): string {
  return onlyAllDay.test(part) ? `täglich ${part}` : part.replace(timesFirst, '$2 $1');
}

function readNamedDays(text: string): DayName[] {
  if (new RegExp(`^(?:${everyDay})$`).test(text)) return readDays('mo-so');
  return readDays(new RegExp(`^(?:${workingDays})$`).test(text) ? 'mo-fr' : text);
}
