// Opening hours as a week.
import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import {
  endsNextDay,
  type OpeningHours,
  type Season,
  toSeasons,
} from '../../../core/calendar/opening-hours.ts';
import { formatDay, weekdayNames } from '../texts/format.ts';
import classes from './week.module.css';

export function Week({ items }: { items: OpeningHours[] }) {
  return (
    <Stack gap="md">
      {toSeasons(items).map((season) => (
        <SeasonWeek key={`${season.validFrom} ${season.validUntil}`} season={season} />
      ))}
    </Stack>
  );
}

function SeasonWeek({ season }: { season: Season }) {
  const { t } = useTranslation();
  const today = (new Date().getDay() + 6) % 7;
  return (
    <div>
      <SeasonTitle season={season} />
      <table className={classes.week}>
        <tbody>
          {weekdayNames('long').map((name, index) => {
            const hours = season.week[index] ?? [];
            return (
              <tr key={name} data-today={index === today || undefined}>
                <th scope="row">{name}</th>
                <td className="numbers">
                  {hours.length === 0 ? (
                    <Text span inherit c="dimmed">
                      {t('record.closed')}
                    </Text>
                  ) : (
                    hours.map((item) => (
                      <span key={`${item.opens}${item.closes}`} className={classes.span}>
                        {item.opens} – {item.closes}
                        {endsNextDay(item) && ` (${t('record.nextDay')})`}
                      </span>
                    ))
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function SeasonTitle({ season: { validFrom, validUntil } }: { season: Season }) {
  const { t } = useTranslation();
  if (!validFrom && !validUntil) return null;
  const from = validFrom && formatDay(validFrom);
  const until = validUntil && formatDay(validUntil);
  const key = from && until ? 'record.validFromUntil' : from ? 'record.validFrom' : 'record.validUntil';
  return (
    <Text size="sm" fw={550} mb={4}>
      {t(key, { from, until })}
    </Text>
  );
}
