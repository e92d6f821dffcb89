// Appointments to arrange: whom to call about the visits of the next 14 days, and what became of it.
import { Badge, Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Fragment, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { call } from '../api/client.ts';
import { useDefinition } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { stateQuery, useMayEdit } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { EmptyNote, FailureNote, NotAllowedPage } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { allQuery } from '../paper/all-records.ts';
import { phoneLink } from '../records/contact-links.ts';
import record from '../records/record.module.css';
import { useUndo } from '../records/use-undo.ts';
import { formatDay } from '../texts/format.ts';
import classes from './arrange.module.css';
import { isTakingPlace } from './visit-groups.ts';
import { timeTexts } from './visit-times.ts';
import { type Visit, visitsQuery } from './visits-query.ts';

const ExceptionDialog = lazyRouteComponent(() => import('./exception-dialog.tsx'), 'ExceptionDialog');

const days = 14;
/** Number of entries that are shown at first: nobody reads more of them in one go. */
const shownAtFirst = 60;

type State = 'OPEN' | 'CALLED' | 'PROPOSED' | 'CONFIRMED';

/** Somebody who was called without a result has a proposed appointment without a time. */
function stateOf({ appointmentId, appointmentStatus }: Visit, timed: ReadonlySet<string>): State {
  if (appointmentId === undefined) return 'OPEN';
  if (appointmentStatus === 'CONFIRMED') return 'CONFIRMED';
  return timed.has(appointmentId) ? 'PROPOSED' : 'CALLED';
}

export function ArrangePage() {
  return useMayEdit() ? <Arranging /> : <NotAllowedPage />;
}

function Arranging() {
  const { t } = useTranslation();
  const from = todayIn('Europe/Berlin');
  const until = fromDayNumber(toDayNumber(from) + days - 1);
  const visits = useQuery(visitsQuery({ from, until, needsAppointment: true }));
  const proposals = useQuery(
    allQuery('appointments', { status: 'PROPOSED', dateFrom: from, dateUntil: until }),
  );
  const error = visits.error ?? proposals.error;
  const timed = new Set(
    proposals.data?.records.filter(({ timeFrom }) => timeFrom !== undefined).map(({ id }) => id),
  );
  const rows = (visits.data ?? [])
    .filter(isTakingPlace)
    .map((visit) => ({ visit, state: stateOf(visit, timed) }));
  const isDone = ({ state }: { state: State }) => state === 'CONFIRMED';
  const open = rows.filter((row) => !isDone(row));
  const retry = () => void Promise.all([visits.refetch(), proposals.refetch()]);
  return (
    <div className={classes.page}>
      <PageHead
        title={t('arrange.title')}
        text={t('arrange.text')}
        trail={[{ title: t('visits.title'), to: '/visits' }]}
      />
      {error && <FailureNote error={error} onRetry={retry} />}
      {!error && (!visits.data || !proposals.data) && <Lines count={8} />}
      {visits.data && proposals.data && (
        <>
          {open.length === 0 ? (
            <div className="panel">
              <EmptyNote icon="done" title={t('arrange.none')} text={t('arrange.noneText')} />
            </div>
          ) : (
            <Rows title={t('arrange.open')} rows={open} />
          )}
          <Rows title={t('arrange.done')} rows={rows.filter(isDone)} none={t('arrange.noneDone')} />
        </>
      )}
    </div>
  );
}

interface Row {
  visit: Visit;
  state: State;
}

function Rows({ title, rows, none }: { title: string; rows: Row[]; none?: string }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(shownAtFirst);
  const byDay = Map.groupBy(rows.slice(0, shown), ({ visit }) => visit.date);
  return (
    <Card title={`${title} (${rows.length})`} icon="appointment">
      {rows.length === 0 && <p className={record.none}>{none}</p>}
      {[...byDay].map(([day, ofDay]) => (
        <section key={day} className={classes.day} aria-label={formatDay(day)}>
          <h3>{formatDay(day, { weekday: 'long', day: 'numeric', month: 'long' })}</h3>
          <ul className={record.list}>
            {ofDay.map((row) => (
              <VisitRow key={keyOf(row.visit)} {...row} />
            ))}
          </ul>
        </section>
      ))}
      {rows.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + shownAtFirst)}>
          {t('arrange.more')}
        </Button>
      )}
    </Card>
  );
}

/** A visit stays the same when an appointment for its day is made. */
function keyOf({ siteId, date, movedFrom, plannedDate, appointmentId }: Visit): string {
  const isAdditional = appointmentId !== undefined && plannedDate === undefined;
  return `${siteId} ${isAdditional ? appointmentId : (plannedDate ?? movedFrom ?? date)}`;
}

const colours = { OPEN: 'gray', CALLED: 'yellow', PROPOSED: 'yellow', CONFIRMED: 'leaf' } as const;

function VisitRow({ visit, state }: Row) {
  const { t } = useTranslation();
  const [isAgreeing, setIsAgreeing] = useState(false);
  const calling = useCalled(visit);
  const { site, customer, preparationInMinutes = 0 } = visit;
  const name = site?.name ?? '';
  return (
    <li className={classes.row}>
      <div>
        <Text fw={550}>
          <AnchorLink inherit to={`/data/sites/${visit.siteId}`}>
            {name}
          </AnchorLink>
        </Text>
        <Text size="sm" c="dimmed">
          {[customer?.companyName, site?.address.city].filter(Boolean).join(' · ')}
        </Text>
      </div>
      <Contact visit={visit} />
      <div>
        <Text size="sm" className="numbers">
          {timeTexts(visit, visit.durationInMinutes).map((text) => (
            <Fragment key={text}>
              <span className={classes.time}>{text}</span>{' '}
            </Fragment>
          ))}
        </Text>
        {preparationInMinutes > 0 && (
          <Text size="sm" c="dimmed">
            {t('arrange.preparation', { minutes: preparationInMinutes })}
          </Text>
        )}
      </div>
      <Group gap="xs" className={classes.actions}>
        <Badge color={colours[state]}>{t(`arrange.states.${state}`)}</Badge>
        {state === 'OPEN' && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('arrange.calledOf', { name })}
            loading={calling.isPending}
            onClick={() => calling.mutate()}
          >
            {t('arrange.called')}
          </Button>
        )}
        {state === 'CONFIRMED' && <MailButton visit={visit} name={name} />}
        <Button
          size="compact-sm"
          variant={state === 'CONFIRMED' ? 'default' : 'filled'}
          aria-label={t('arrange.agreeOf', { name })}
          disabled={calling.isPending}
          onClick={() => setIsAgreeing(true)}
        >
          {t('arrange.agree')}
        </Button>
      </Group>
      {isAgreeing && (
        <Suspense>
          <ExceptionDialog visit={visit} onClose={() => setIsAgreeing(false)} />
        </Suspense>
      )}
    </li>
  );
}

function Contact({ visit: { contactPerson, customer } }: { visit: Visit }) {
  const { t } = useTranslation();
  const name = contactPerson && [contactPerson.firstName, contactPerson.lastName].filter(Boolean).join(' ');
  const numbers = [contactPerson?.phone, contactPerson?.mobile].filter((number) => number !== undefined);
  if (numbers.length === 0 && customer?.phone) numbers.push(customer.phone);
  return (
    <div>
      <Text size="sm">{name ?? t('arrange.noContact')}</Text>
      {numbers.map((number) => (
        <div key={number}>
          <a className={classes.phone} href={phoneLink(number)}>
            {number}
          </a>
        </div>
      ))}
    </div>
  );
}

function useCalled({ site, siteId, date, movedFrom = date }: Visit) {
  const { t } = useTranslation();
  const definition = useDefinition('appointments')!;
  const forgetReadings = useForgetReadings();
  const { tellCreated } = useUndo();
  return useMutation({
    mutationFn: async () => {
      const body = { siteId, date, plannedDate: movedFrom, status: 'PROPOSED' };
      const { id } = await call<{ id: string }>('POST', definition.path, { body });
      tellCreated(definition, id, t('arrange.calledOf', { name: site?.name ?? '' }));
      await forgetReadings();
    },
    onError: tellFailure,
  });
}

/** Shown if mail is set up and the contact person has an address. */
function MailButton({ visit: { appointmentId, contactPerson }, name }: { visit: Visit; name: string }) {
  const { t } = useTranslation();
  const { data: state } = useQuery(stateQuery);
  const email = contactPerson?.email;
  const sending = useMutation({
    mutationFn: () => call('POST', `/appointments/${appointmentId}/mail`),
    onSuccess: () => tell(t('arrange.mailed', { email })),
    onError: tellFailure,
  });
  if (!email || !state?.hasMail) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={t('arrange.mailOf', { name })}
      loading={sending.isPending}
      disabled={sending.isSuccess}
      onClick={() => sending.mutate()}
    >
      {t('arrange.mail')}
    </Button>
  );
}
