// One visit: short in a week, and with everything that somebody on the way needs in a day.
import { ActionIcon, Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { Fragment, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useIsAdministrator } from '../api/session.ts';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { Dialog } from '../frame/dialog.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { phoneLink } from '../records/contact-links.ts';
import { formatDay } from '../texts/format.ts';
import { timeTexts } from './visit-times.ts';
import classes from './visits.module.css';
import type { Visit } from './visits-query.ts';

export type Reassign = (siteId: string, employeeId: string | undefined) => Promise<void>;

interface VisitCardProps {
  visit: Visit;
  onReassign: Reassign;
  isWhole?: boolean;
}

export function VisitCard({ visit, onReassign, isWhole = false }: VisitCardProps) {
  const { t } = useTranslation();
  const isAdministrator = useIsAdministrator();
  const [isOpen, setIsOpen] = useState(false);
  const { site, customer, employee } = visit;
  // Below the name in a week, where a name has as much room as its column.
  const change = isAdministrator && (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={t('visits.reassignOf', { name: site?.name ?? '' })}
      onClick={() => setIsOpen(true)}
    >
      <Icon name="employee" size={15} />
    </ActionIcon>
  );
  return (
    <li
      className={classes.visit}
      data-skipped={visit.status === 'SKIPPED' || undefined}
      draggable={isAdministrator}
      onDragStart={({ dataTransfer }) => dataTransfer.setData('text/x-stamm-site', visit.siteId)}
    >
      <Group justify="space-between" wrap="nowrap" gap={4} align="flex-start">
        <Stack gap={0} miw={0}>
          <AnchorLink
            to={`/data/sites/${visit.siteId}`}
            size="sm"
            fw={550}
            className={classes.name}
            {...inNames}
          >
            {site?.name ?? ''}
          </AnchorLink>
          <Text
            size="xs"
            c="dimmed"
            className={classes.name}
            lineClamp={isWhole ? undefined : 2}
            title={customer?.companyName}
            {...inNames}
          >
            {customer?.companyName}
          </Text>
          {!isWhole && (
            <Text size="xs" c="dimmed" className={classes.name} {...inNames}>
              {site?.address.city}
            </Text>
          )}
        </Stack>
        {isWhole && change}
      </Group>
      <Group justify="space-between" wrap="nowrap" gap={4} align="flex-end">
        <Text size="xs" className="numbers">
          <Times visit={visit} />
        </Text>
        {!isWhole && change}
      </Group>
      {isWhole && <Way visit={visit} />}
      <Marks visit={visit} />
      {isOpen && (
        <Dialog onClose={() => setIsOpen(false)} title={t('visits.reassign')}>
          <Stack>
            <Text size="sm">{t('visits.reassignText', { name: site?.name ?? '' })}</Text>
            <ReferencePicker
              resources={['employee']}
              label={t('visits.employee')}
              value={employee ? visit.employeeId : undefined}
              onChange={(id) => {
                setIsOpen(false);
                void onReassign(visit.siteId, id);
              }}
            />
          </Stack>
        </Dialog>
      )}
    </li>
  );
}

/** Names are German in either language, and browsers hyphenate by it. */
const inNames = { lang: 'de' };

/** Lines break between times, never inside one. */
function Times({ visit }: { visit: Visit }) {
  return timeTexts(visit, visit.durationInMinutes).map((part, index) => (
    <Fragment key={part}>
      {index > 0 && ' '}
      <span className={classes.whole}>{part}</span>
    </Fragment>
  ));
}

/** Address, contact, phone, key and note. */
function Way({ visit: { site, customer, contactPerson } }: { visit: Visit }) {
  const { t } = useTranslation();
  const phone = contactPerson?.phone ?? contactPerson?.mobile ?? customer?.phone;
  const contact =
    contactPerson && [contactPerson.firstName, contactPerson.lastName].filter(Boolean).join(' ');
  return (
    <>
      {site && (
        <Text size="xs" className={classes.name}>
          {site.address.streetName} {site.address.houseNumber}, {site.address.zipCode} {site.address.city}
        </Text>
      )}
      {(contact || phone) && (
        <Text size="xs" className={classes.name}>
          {contact}
          {contact && phone && ' · '}
          {phone && (
            <Anchor href={phoneLink(phone)} size="xs" underline="always">
              {phone}
            </Anchor>
          )}
        </Text>
      )}
      {site?.comment && (
        <Text size="xs" c="dimmed" className={classes.name}>
          {site.comment}
        </Text>
      )}
      {site?.hasKey && (
        <Badge size="sm" color="gray" leftSection={<Icon name="key" size={11} />}>
          {t('visits.key')}
        </Badge>
      )}
    </>
  );
}

function Marks({ visit: { status, reason, movedFrom = '', holiday, conflicts } }: { visit: Visit }) {
  const { t } = useTranslation();
  const day = formatDay(movedFrom || '2000-01-01', { day: 'numeric', month: 'long' });
  return (
    <>
      {status === 'MOVED' && (
        <Text size="xs" c="dimmed">
          {holiday ? t('visits.movedByHoliday', { day, name: holiday }) : t('visits.movedByHours', { day })}
        </Text>
      )}
      {status === 'SKIPPED' && (
        <Text size="xs" c="dimmed">
          {reason === 'HOLIDAY'
            ? t('visits.skippedByHoliday', { name: holiday })
            : t('visits.skippedByHours')}
        </Text>
      )}
      <Group gap={4}>
        {conflicts.map((conflict) => (
          <Badge key={conflict} size="sm" color="yellow" className={classes.conflict}>
            {t(`visits.conflicts.${conflict}`)}
          </Badge>
        ))}
      </Group>
    </>
  );
}
