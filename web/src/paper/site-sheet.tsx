// A site on paper, for the person who goes there: access, contacts, and the plants by room.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { isOpeningHours } from '../../../core/calendar/opening-hours.ts';
import { isAttendingInterval } from '../../../core/calendar/visits.ts';
import { type Entity, labelOf, pluralOf, titleOf, useDefinition } from '../api/definitions.ts';
import { type Named, useNamed } from '../api/named.ts';
import { recordQuery } from '../api/records.ts';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { usePrintPage } from '../frame/printing.ts';
import { Icon } from '../icons.tsx';
import { describeInterval } from '../records/interval-words.ts';
import { RecordFailure } from '../records/record-failure.tsx';
import { NamedText, Value } from '../records/value.tsx';
import { Week } from '../records/week.tsx';
import { addressParts } from '../tables/columns.ts';
import { formatNumber } from '../texts/format.ts';
import { allQuery } from './all-records.ts';
import { QrCode, useRecordAddress } from './qr-code.tsx';
import { groupByRoom } from './rooms.ts';
import classes from './sheet.module.css';

export function SiteSheetPage() {
  const { id = '' } = useParams({ strict: false });
  const definition = useDefinition('sites')!;
  const { data: site, error, refetch } = useQuery(recordQuery('sites', id));
  const customer = useNamed(['customer'], idIn(site, 'customerId'));
  const contact = useNamed(['contact-person'], idIn(site, 'contactPersonId'));
  if (error) return <RecordFailure definition={definition} error={error} onRetry={() => refetch()} />;
  // Names that arrive later would push down text that somebody reads.
  if (!site || customer.isLoading || contact.isLoading) return <Lines count={8} />;
  return <Sheet site={site} customer={customer.data} contact={contact.data} />;
}

function idIn(site: Entity | undefined, field: string): string | undefined {
  return site?.[field] === undefined ? undefined : String(site[field]);
}

interface SheetProps {
  site: Entity;
  customer: Named | null | undefined;
  contact: Named | null | undefined;
}

function Sheet({ site, customer, contact }: SheetProps) {
  const { t } = useTranslation();
  const definition = useDefinition('sites')!;
  const addressOf = useRecordAddress();
  const printPage = usePrintPage();
  const hours = asList(site.openingHours).filter(isOpeningHours);
  const intervals = asList(site.attendingIntervals).filter(isAttendingInterval);
  const fieldTitle = (name: string) => titleOf(definition.fields.find((field) => field.name === name)!);
  const name = labelOf(definition, site);
  return (
    <div className={classes.page}>
      <PageHead
        title={name}
        text={customer && labelOf(customer.definition, customer.entity)}
        trail={[
          { title: pluralOf(definition), to: '/data/sites' },
          { title: name, to: `/data/sites/${site.id}` },
        ]}
        actions={
          <>
            <ButtonLink
              variant="default"
              to="/labels/plants"
              search={{ siteId: site.id, sort: 'name' }}
              leftSection={<Icon name="qr" size={16} />}
            >
              {t('labels.title')}
            </ButtonLink>
            <Button leftSection={<Icon name="printer" size={16} />} onClick={printPage}>
              {t('print.action')}
            </Button>
          </>
        }
      />
      <div className={`panel ${classes.sheet}`}>
        <div className={classes.top}>
          <dl className={classes.facts}>
            <Fact title={fieldTitle('address')}>
              <Parts parts={addressParts(site.address)} />
            </Fact>
            {contact && (
              <Fact title={fieldTitle('contactPersonId')}>
                <Parts parts={contactParts(contact)} />
              </Fact>
            )}
            {customer?.entity.phone !== undefined && (
              <Fact title={titleOf(customer.definition)}>{String(customer.entity.phone)}</Fact>
            )}
            {site.assignedEmployeeId !== undefined && (
              <Fact title={fieldTitle('assignedEmployeeId')}>
                <NamedText resources={['employee']} id={String(site.assignedEmployeeId)} />
              </Fact>
            )}
            {definition.fields
              .filter(({ name: field }) => accessFields.includes(field) && site[field] !== undefined)
              .map((field) => (
                <Fact key={field.name} title={titleOf(field)}>
                  <Value field={field} value={site[field.name]} />
                </Fact>
              ))}
          </dl>
          <div className={classes.code}>
            <QrCode text={addressOf('sites', site.id)} label={t('labels.code', { name })} />
          </div>
        </div>
        <div className={classes.times}>
          <section>
            <h2>{t('record.openingHours')}</h2>
            {hours.length === 0 ? <p>{t('record.openingHoursNone')}</p> : <Week items={hours} />}
          </section>
          <section>
            <h2>{fieldTitle('attendingIntervals')}</h2>
            {intervals.length === 0 && <p>{t('record.visitsNone')}</p>}
            <ul>
              {intervals.map((interval) => (
                <li key={JSON.stringify(interval)}>{describeInterval(interval, t)}</li>
              ))}
            </ul>
          </section>
        </div>
        <Plants siteId={site.id} />
      </div>
    </div>
  );
}

const accessFields = ['hasKey', 'needsAppointment', 'appointmentPreparationTimeInMinutes', 'comment'];

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function Fact({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function contactParts({ definition, entity }: Named): string[] {
  const { role, phone, mobile } = entity;
  return [labelOf(definition, entity), role, phone, mobile].filter(Boolean).map(String);
}

/** Lines break between parts: a phone number in two pieces is dialled wrong. */
function Parts({ parts }: { parts: readonly string[] }) {
  return parts.map((part, index) => (
    <Fragment key={part}>
      <span className={classes.part}>{index < parts.length - 1 ? `${part},` : part}</span>{' '}
    </Fragment>
  ));
}

const plantColumns = ['position', 'labelCode', 'status', 'comment'];

function Plants({ siteId }: { siteId: string }) {
  const { t } = useTranslation();
  const definition = useDefinition('plants')!;
  const { data, error, refetch } = useQuery(allQuery('plants', { siteId, sort: 'name' }));
  if (error) return <FailureNote error={error} onRetry={() => refetch()} />;
  if (!data) return <Lines />;
  const columns = definition.fields.filter(({ name }) => plantColumns.includes(name));
  const rooms = groupByRoom(data.records);
  return (
    <section>
      <h2>{pluralOf(definition)}</h2>
      {rooms.length === 0 && <p>{t('record.noneHere')}</p>}
      {rooms.map(({ place, plants }) => (
        <table key={place} className={`${classes.plants} ${classes.room}`}>
          <caption>{place || t('paper.noRoom')}</caption>
          <thead>
            <tr>
              <th scope="col">{titleOf(definition)}</th>
              {columns.map((field) => (
                <th key={field.name} scope="col">
                  {titleOf(field)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {plants.map((plant) => (
              <tr key={plant.id}>
                <th scope="row">
                  {Number(plant.quantity) > 1 && `${plant.quantity} × `}
                  {labelOf(definition, plant)}
                </th>
                {columns.map((field) => (
                  <td key={field.name}>
                    {plant[field.name] !== undefined && (
                      <Value field={field} value={plant[field.name]} owner={plant} />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      ))}
      {data.hasMore && <p>{t('labels.more', { shown: formatNumber(data.records.length) })}</p>}
    </section>
  );
}
