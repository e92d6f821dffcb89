// The shapes of opening hours and visit intervals that the office can show and plan with. Others are stored as sent.
import type { JsonSchema } from '../crud/fields.ts';

const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];
const day = { type: 'string', enum: days };
const date = { type: 'string', format: 'date' };
const time = { type: 'string', format: 'time' };

/** After schema.org's OpeningHoursSpecification. Several items of a day are breaks; closing before opening is the next day. */
export const openingHoursItem: JsonSchema = {
  type: 'object',
  properties: {
    dayOfWeek: day,
    opens: time,
    closes: { type: 'string', format: 'closing-time' },
    validFrom: date,
    validUntil: date,
  },
  required: ['dayOfWeek', 'opens', 'closes'],
  additionalProperties: false,
};

function integerBetween(minimum: number, maximum: number) {
  return { type: 'integer', minimum, maximum };
}

/** After JSCalendar's recurrence rule. */
export const attendingInterval: JsonSchema = {
  type: 'object',
  properties: {
    frequency: { type: 'string', enum: ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] },
    interval: integerBetween(1, 52),
    byDay: { type: 'array', items: day },
    weekOfMonth: { type: 'integer', enum: [1, 2, 3, 4, -1] },
    byMonth: { type: 'array', items: integerBetween(1, 12) },
    startDate: date,
    endDate: date,
    timeFrom: time,
    timeUntil: { type: 'string', format: 'closing-time' },
    durationInMinutes: integerBetween(1, 1440),
    toleranceInDays: integerBetween(0, 31),
  },
  required: ['frequency'],
  additionalProperties: false,
};
