// One visit with everything that somebody on the way needs.
import { ActionIcon, Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Fragment, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMayEdit } from '../api/session.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { phoneLink } from '../records/contact-links.ts';
import { isTakingPlace } from './visit-groups.ts';
import { Marks } from './visit-marks.tsx';
import { timeTexts } from './visit-times.ts';
import classes from './visits.module.css';
import type { Visit } from './visits-query.ts';

const MoveDialog = lazyRouteComponent(() => import('./board/move-dialog.tsx'), 'MoveDialog');
const ExceptionDialog = lazyRouteComponent(() => import('./exception-dialog.tsx'), 'ExceptionDialog');

export function VisitCard({ visit }: { visit: Visit }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const [dialog, setDialog] = useState<'once' | 'move'>();
  const { site, customer } = visit;
  const close = () => setDialog(undefined);
  return (
    <li className={classes.visit} data-skipped={!isTakingPlace(visit) || undefined}>
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
          <Text size="xs" c="dimmed" className={classes.name} {...inNames}>
            {customer?.companyName}
          </Text>
        </Stack>
        {mayEdit && (
          <Group gap={2} wrap="nowrap" className="screen-only">
            <CardButton
              icon="calendar"
              title={t('visits.once.title')}
              label={t('visits.once.of', { name: site?.name ?? '' })}
              onClick={() => setDialog('once')}
            />
            <CardButton
              icon="employee"
              title={t('visits.move.action')}
              label={t('visits.move.of', { name: site?.name ?? '' })}
              onClick={() => setDialog('move')}
            />
          </Group>
        )}
      </Group>
      <Text size="xs" className="numbers">
        <Times visit={visit} />
      </Text>
      <Way visit={visit} />
      <Marks visit={visit} />
      <Suspense>
        {dialog === 'once' && <ExceptionDialog visit={visit} onClose={close} />}
        {dialog === 'move' && <MoveDialog visits={[visit]} onClose={close} />}
      </Suspense>
    </li>
  );
}

interface CardButtonProps {
  icon: IconName;
  title: string;
  label: string;
  onClick: () => void;
}

function CardButton({ icon, title, label, onClick }: CardButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} title={title} onClick={onClick}>
      <Icon name={icon} size={15} />
    </ActionIcon>
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
