// A time zone as calendar programs read it (VTIMEZONE): its offsets over the days of a feed.

export function describeTimeZone(zone: string, from: string, until: string): string {
  const end = Temporal.PlainDate.from(until).add({ years: 1 }).toZonedDateTime(zone);
  let moment = Temporal.PlainDate.from(from).subtract({ years: 1 }).toZonedDateTime(zone);
  const parts = [describeOffset(moment, moment.offset)];
  for (;;) {
    const next = moment.getTimeZoneTransition('next');
    if (!next || Temporal.ZonedDateTime.compare(next, end) > 0) break;
    parts.push(describeOffset(next, next.subtract({ nanoseconds: 1 }).offset));
    moment = next;
  }
  return ['BEGIN:VTIMEZONE', `TZID:${zone}`, ...parts, 'END:VTIMEZONE'].join('\r\n');
}

function describeOffset(start: Temporal.ZonedDateTime, before: string): string {
  // The clock before the change says when it happens.
  const clock = start.withTimeZone(before).toPlainDateTime().toString({ smallestUnit: 'second' });
  const kind = isSummer(start) ? 'DAYLIGHT' : 'STANDARD';
  return [
    `BEGIN:${kind}`,
    `DTSTART:${clock.replaceAll(/[-:]/g, '')}`,
    `TZOFFSETFROM:${before.replace(':', '')}`,
    `TZOFFSETTO:${start.offset.replace(':', '')}`,
    `END:${kind}`,
  ].join('\r\n');
}

/** The larger of a year's two offsets. */
function isSummer(moment: Temporal.ZonedDateTime): boolean {
  const offsets = [1, 7].map((month) => moment.with({ month, day: 1 }).offsetNanoseconds);
  return Math.max(...offsets) !== Math.min(...offsets) && moment.offsetNanoseconds === Math.max(...offsets);
}
