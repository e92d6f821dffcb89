// Visit intervals as people write them: "alle 2 Wochen Di, Fr ab 01.03.2026 08:00–12:00; monatlich letzter Mo".
import {
  dateWord,
  dayList,
  readDate,
  readDays,
  readTime,
  splitEntries,
  type TextLanguage,
  timeSpan,
  timeWord,
  writeDate,
  writeDays,
} from './day-words.ts';
import { type AttendingInterval, type Frequency, frequencies } from './visits.ts';

const words = {
  de: {
    plain: ['täglich', 'wöchentlich', 'monatlich', 'jährlich'],
    every: ['jeden Tag', 'jede Woche', 'jeden Monat', 'jedes Jahr'],
    units: ['Tage', 'Wochen', 'Monate', 'Jahre'],
    all: 'alle',
    last: 'letzter',
    week: 'Woche',
    months: ['Jan', 'Feb', 'Mär', 'Apr', 'Mai', 'Jun', 'Jul', 'Aug', 'Sep', 'Okt', 'Nov', 'Dez'],
    in: 'im',
    from: 'ab',
    until: 'bis',
    minutes: 'Min.',
    days: 'Tage',
  },
  en: {
    plain: ['daily', 'weekly', 'monthly', 'yearly'],
    every: ['every day', 'every week', 'every month', 'every year'],
    units: ['days', 'weeks', 'months', 'years'],
    all: 'every',
    last: 'last',
    week: 'week',
    months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
    in: 'in',
    from: 'from',
    until: 'until',
    minutes: 'min',
    days: 'days',
  },
} as const;

export function writeIntervals(items: readonly AttendingInterval[], language: TextLanguage): string {
  return items.map((item) => writeInterval(item, language)).join('; ');
}

function writeInterval(item: AttendingInterval, language: TextLanguage): string {
  const text = words[language];
  const unit = frequencies.indexOf(item.frequency);
  const { interval, byDay, weekOfMonth, byMonth, startDate, endDate, timeFrom, timeUntil } = item;
  const parts: (string | undefined)[] = [
    interval === undefined
      ? text.plain[unit]
      : interval === 1
        ? text.every[unit]
        : `${text.all} ${interval} ${text.units[unit]}`,
    weekOfMonth && (weekOfMonth === -1 ? text.last : `${weekOfMonth}.`),
    weekOfMonth && !byDay ? text.week : undefined,
    byDay && writeDays(byDay, language),
    byMonth && `${text.in} ${byMonth.map((month) => text.months[month - 1]).join(', ')}`,
    startDate && `${text.from} ${writeDate(startDate, language)}`,
    endDate && `${text.until} ${writeDate(endDate, language)}`,
    timeFrom && timeUntil ? `${timeFrom}–${timeUntil}` : undefined,
    timeFrom && !timeUntil ? `${text.from} ${timeFrom}` : undefined,
    timeUntil && !timeFrom ? `${text.until} ${timeUntil}` : undefined,
    item.durationInMinutes === undefined ? undefined : `${item.durationInMinutes} ${text.minutes}`,
    item.toleranceInDays === undefined ? undefined : `± ${item.toleranceInDays} ${text.days}`,
  ];
  return parts.filter(Boolean).join(' ');
}

interface Part extends Partial<AttendingInterval> {
  /** Weeks of the month, each of which becomes an interval of its own. */
  weeks?: number[];
  /** Number of days that the text must name. */
  dayCount?: number;
}
type Found = Part | undefined;
type Pattern = [pattern: RegExp, read: (match: string[]) => Found];

const monthWords = 'jan|feb|mär|mrz|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec';
const monthNumbers: Record<string, number> = {
  ...Object.fromEntries(words.de.months.map((name, index) => [name.toLowerCase(), index + 1])),
  ...Object.fromEntries(words.en.months.map((name, index) => [name.toLowerCase(), index + 1])),
  mrz: 3,
};

const frequencyOf = (index: number) => frequencies[index] as Frequency;

const numberWords = [
  'ein',
  'zwei',
  'drei',
  'vier',
  'fünf',
  'sechs',
  'sieben',
  'acht',
  'neun',
  'zehn',
  'elf',
  'zwölf',
];
const count = `(\\d{1,2}|${numberWords.join('|')}|vierzehn|one|two|three|four|five|six|twelve|twee|drie|zes)`;
const foreignNumbers: Record<string, number> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  twelve: 12,
  twee: 2,
  drie: 3,
  zes: 6,
};

function readCount(word = ''): number {
  if (/^\d/.test(word)) return Number(word);
  return word === 'vierzehn' ? 14 : (foreignNumbers[word] ?? numberWords.indexOf(word) + 1);
}

/** "14-tägig" means every second week, on the same weekday. */
function everyDays(days: number): Found {
  return days % 7 === 0
    ? { frequency: 'WEEKLY', interval: days / 7 }
    : { frequency: 'DAILY', interval: days };
}

/** "2x im Monat": the shape has no number of visits, so each becomes a week of the month. */
function timesPerMonth(times: number): Found {
  if (times === 1) return { frequency: 'MONTHLY', interval: 1 };
  const weeks = [undefined, undefined, [1, 3], undefined, [1, 2, 3, 4]][times];
  return weeks && { frequency: 'MONTHLY', weeks };
}

function timesPerYear(times: number): Found {
  return 12 % times === 0 ? { frequency: 'MONTHLY', interval: 12 / times } : undefined;
}

/** "2x pro Woche" says how many days follow. */
function timesPerWeek(times: number): Found {
  return times === 1 ? { frequency: 'WEEKLY', interval: 1 } : { frequency: 'WEEKLY', dayCount: times };
}

const times = `${count}\\s*(?:x|×|mal|keer)\\s*(?:(?:im|in der|pro|je|a|per|/)\\s*)?`;
const [perWeek, perMonth, perQuarter, perYear] = [
  'woche|wöchentlich|wöchentl\\.?|week|weekly',
  'monat|monatlich|monatl\\.?|mtl\\.?|month|monthly|maand',
  'quartal|vierteljahr|quarter|kwartaal',
  'jahr|jährlich|year|yearly|jaar',
];

/** Words that offices use beside those that Stamm writes. */
const usualPatterns: Pattern[] = [
  [start(`${count}-?\\s?(?:tägig|tä?gl\\.?|täglich)`), ([, days]) => everyDays(readCount(days))],
  [
    start(`${count}-?\\s?(?:wöchig|wöchentlich|wöchentl\\.?)`),
    ([, weeks]) => ({ frequency: 'WEEKLY', interval: readCount(weeks) }),
  ],
  [
    start(`${count}-?\\s?(?:monatig|monatlich|monatl\\.?)`),
    ([, months]) => ({ frequency: 'MONTHLY', interval: readCount(months) }),
  ],
  [
    start(
      '(?:vierteljährlich|vierteljährl\\.?|(?:1/4|¼)[- ]?jährlich|quartalsweise|jedes quartal|quarterly|(?:per|elk) kwartaal)',
    ),
    () => ({ frequency: 'MONTHLY', interval: 3 }),
  ],
  [
    start('(?:halbjährlich|halbjährl\\.?|(?:1/2|½)[- ]?jährlich|half-?yearly|halfjaarlijks)'),
    () => ({ frequency: 'MONTHLY', interval: 6 }),
  ],
  [
    start('(?:biweekly|fortnightly|every other week|jede (?:2\\.|zweite) woche|om de week)'),
    () => ({ frequency: 'WEEKLY', interval: 2 }),
  ],
  [start('(?:jeden (?:2\\.|zweiten) monat|om de maand)'), () => ({ frequency: 'MONTHLY', interval: 2 })],
  [start(`${times}(?:${perWeek})`), ([, number]) => timesPerWeek(readCount(number))],
  [start(`${times}(?:${perMonth})`), ([, number]) => timesPerMonth(readCount(number))],
  [start(`${times}(?:${perQuarter})`), ([, number]) => timesPerYear(4 * readCount(number))],
  [start(`${times}(?:${perYear})`), ([, number]) => timesPerYear(readCount(number))],
  [
    start(`(?:alle|every)\\s+${count}\\s+(?:(tg\\.?)|(wo?\\.?)|(mon?\\.?)|(j\\.?))`),
    ([, interval, ...units]) => ({
      frequency: frequencyOf(units.findIndex(Boolean)),
      interval: readCount(interval),
    }),
  ],
  [
    start(
      `(?:alle|every|om de|elke|iedere|1\\s?x per)\\s+${count}\\s+(?:(tagen?|days|dagen)|(wochen?|weeks|weken)|(monaten?|months|maanden)|(jahren?|years|jaar))`,
    ),
    ([, interval, ...units]) => ({
      frequency: frequencyOf(units.findIndex(Boolean)),
      interval: readCount(interval),
    }),
  ],
  ...(
    [
      'tä?gl\\.?|dagelijks|elke dag',
      'wö(?:ch(?:en)?)?(?:tl)?\\.?|wtl\\.?|wekelijks|elke week',
      'mtl\\.?|monatl\\.?|maandelijks|elke maand',
      'jährl\\.?|jaarlijks|elk jaar',
    ] as const
  ).map((short, index): Pattern => [start(`(?:${short})`), () => ({ frequency: frequencyOf(index) })]),
  [
    start(`jeden?\\s+(?:([1-4])\\.|(letzten?))\\s+(${dayList})\\s+(?:im|des|jeden)\\s+monats?`),
    ([, number, , days = '']) => ({
      frequency: 'MONTHLY',
      weekOfMonth: Number(number ?? -1) as 1,
      byDay: readDays(days),
    }),
  ],
  [
    start(
      `(?:jeden\\s+|am\\s+)?([1-4])\\.(?:\\s*(?:und|u\\.|\\+|&|,)\\s*([1-4])\\.)?\\s*(${dayList})\\s+(?:im|des|jeden)\\s+monats?`,
    ),
    ([, first, second, days = '']) => ({
      frequency: 'MONTHLY',
      byDay: readDays(days),
      ...(second ? { weeks: [Number(first), Number(second)] } : { weekOfMonth: Number(first) as 1 }),
    }),
  ],
  [
    start(`jeden\\s+(?:(1\\.|ersten)|letzten)\\s+(${dayList})`),
    ([, first, days = '']) => ({ frequency: 'MONTHLY', weekOfMonth: first ? 1 : -1, byDay: readDays(days) }),
  ],
  [
    start(`jeden\\s+(?:2\\.|zweiten)\\s+(${dayList})`),
    ([, days = '']) => ({ frequency: 'WEEKLY', interval: 2, byDay: readDays(days) }),
  ],
  [
    start(`(?:jeden|every|elke|iedere)\\s+(${dayList})`),
    ([, days = '']) => ({ frequency: 'WEEKLY', byDay: readDays(days) }),
  ],
  [start('(?:im|des|jeden)\\s+monats?'), () => ({ frequency: 'MONTHLY' })],
  [start('(?:werktags|werktäglich|wochentags)'), () => ({ frequency: 'WEEKLY', byDay: readDays('mo-fr') })],
  [start('ca\\.?\\s*(\\d{1,4})\\s*min\\w*\\.?'), ([, minutes]) => ({ durationInMinutes: Number(minutes) })],
];

/** The beginning of the text that is still to be read. The first pattern that matches counts. */
const patterns: Pattern[] = [
  ...frequencies.flatMap((frequency, index): Pattern[] => [
    [start(`(?:${words.de.plain[index]}|${words.en.plain[index]})`), () => ({ frequency })],
    [start(`(?:${words.de.every[index]}|${words.en.every[index]})`), () => ({ frequency, interval: 1 })],
  ]),
  [
    start(
      '(?:alle|every)\\s+(\\d{1,2})\\s+(?:(tagen?|days)|(wochen|weeks)|(monaten?|months)|(jahren?|years))',
    ),
    ([, interval, ...units]) => ({
      frequency: frequencyOf(units.findIndex(Boolean)),
      interval: Number(interval),
    }),
  ],
  [
    start(
      `(?:am\\s+|on\\s+)?(?:([1-4])\\.|([1-4])(?:st|nd|rd|th)|(letzte[rn]?|last))(?:\\s+(?:woche|week)|(?=\\s+${dayList}))`,
    ),
    ([, number, ordinal]) => ({ weekOfMonth: Number(number ?? ordinal ?? -1) as 1 }),
  ],
  [start(`(?:am\\s+|on\\s+)?(${dayList})`), ([, days = '']) => ({ byDay: readDays(days) })],
  [
    start(`(?:im|in)\\s+((?:${monthWords})[a-zä]*(?:\\s*,\\s*(?:${monthWords})[a-zä]*)*)`),
    ([, months = '']) => ({
      byMonth: months.split(',').map((month) => monthNumbers[month.trim().slice(0, 3)]!),
    }),
  ],
  [start(`(?:ab|from|seit|since)\\s+(${dateWord})`), ([, date = '']) => known({ startDate: readDate(date) })],
  [start(`(?:bis|until)\\s+(${dateWord})`), ([, date = '']) => known({ endDate: readDate(date) })],
  [
    start(timeSpan),
    ([, from = '', until = '']) => known({ timeFrom: readTime(from), timeUntil: readTime(until) }),
  ],
  [start(`(?:ab|from)\\s+(${timeWord})`), ([, time = '']) => known({ timeFrom: readTime(time) })],
  [start(`(?:bis|until)\\s+(${timeWord})`), ([, time = '']) => known({ timeUntil: readTime(time) })],
  [start('(\\d{1,4})\\s*min\\w*\\.?'), ([, minutes]) => ({ durationInMinutes: Number(minutes) })],
  [start('(?:±|\\+/-)\\s*(\\d{1,2})\\s*(?:tage?|days?)'), ([, days]) => ({ toleranceInDays: Number(days) })],
  ...usualPatterns,
];

function start(pattern: string): RegExp {
  return new RegExp(`^${pattern}(?![a-zäöüß\\d])`, 'i');
}

function known(found: Part): Found {
  return Object.values(found).includes(undefined as never) ? undefined : found;
}

/** Undefined where the text is something else, or says the same twice. */
export function readIntervals(text: string): AttendingInterval[] | undefined {
  const items: AttendingInterval[] = [];
  for (const part of splitEntries(text)) {
    const found = readInterval(part.replace(inBrackets, ' $1'));
    if (!found) return undefined;
    items.push(...found);
  }
  return items;
}

/** "14-tägig (Do)" */
const inBrackets = /\s*\(([^()]*)\)$/;
/** "dienstags" is every Tuesday, "Di" alone is only a day. */
const everyNamedDay = /(?:tag|woch|abend)s(?![a-zäöüß])/;

function readInterval(text: string): AttendingInterval[] | undefined {
  const item: Part = {};
  for (let rest = text; rest !== ''; ) {
    const found = readStart(rest);
    if (!found || Object.keys(found.part).some((name) => name in item)) return undefined;
    Object.assign(item, found.part);
    rest = rest.slice(found.length).replace(/^[\s,:]+/, '');
  }
  const { weeks, dayCount, ...interval } = item;
  if (interval.byDay && everyNamedDay.test(text)) interval.frequency ??= 'WEEKLY';
  if (!interval.frequency || (dayCount !== undefined && interval.byDay?.length !== dayCount))
    return undefined;
  if (weeks && interval.weekOfMonth) return undefined;
  const variants = weeks ? weeks.map((weekOfMonth) => ({ ...interval, weekOfMonth })) : [interval];
  return variants as AttendingInterval[];
}

function readStart(text: string): { part: Part; length: number } | undefined {
  for (const [pattern, read] of patterns) {
    const match = pattern.exec(text);
    const part = match && read(match as unknown as string[]);
    if (part) return { part, length: match[0].length };
  }
  return undefined;
}
