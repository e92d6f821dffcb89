// The demo's business: a file of import lines that goes the way of every import. The dates of the file are those of one day;
// here they are counted from today, so the demo never grows old.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const businessName = 'Grün & Gut Raumbegrünung GmbH';
/** By which a demo knows its own data. */
export const demoOrigin = 'demo';

const file = path.resolve(import.meta.dirname, '../../../reference/demo.ndjson');
const dayOfFile = Temporal.PlainDate.from('2026-11-18');
/** Days as near as this move with today. Others move by whole years and stay, such as the first of a month. */
const nearDays = 100;

interface Line {
  type: string;
  data: Record<string, unknown>;
}

export function readBusiness(today: Temporal.PlainDate): Line[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((text) => {
    const { type, data }: Line = JSON.parse(text);
    for (const [field, value] of Object.entries(data))
      if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) data[field] = moveDay(value, today);
    return { type, data };
  });
}

function moveDay(value: string, today: Temporal.PlainDate): string {
  const day = Temporal.PlainDate.from(value);
  const { days } = dayOfFile.until(day, { largestUnit: 'days' });
  const moved =
    Math.abs(days) <= nearDays ? today.add({ days }) : day.add({ years: today.year - dayOfFile.year });
  return moved.toString();
}

/** All or nothing: an interrupted demo can start again. */
export async function importBusiness(origin: string, key: string): Promise<void> {
  const lines = readBusiness(Temporal.Now.plainDateISO('UTC'));
  const response = await fetch(`${origin}/api/v1/import?mode=all-or-nothing`, {
    method: 'POST',
    headers: { ApiKey: key, 'Content-Type': 'application/x-ndjson', 'Stamm-Origin': demoOrigin },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  const answer = await response.text();
  const { summary } = JSON.parse(answer.trimEnd().split('\n').at(-1)!);
  if (summary?.created !== lines.length) throw new Error(`The demo was not stored: ${answer}`);
}
