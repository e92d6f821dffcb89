// Labels with QR codes for plants and containers, on label sheets.
import { Alert, Button, Chip, Group, NumberInput, Select } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, labelOf, pluralOf, useDefinition } from '../api/definitions.ts';
import { useIsNaming } from '../api/named.ts';
import { EmptyNote, FailureNote, NotFoundPage } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { usePrintPage } from '../frame/printing.ts';
import { RecordNet } from '../frame/record-net.tsx';
import { Icon } from '../icons.tsx';
import { NamedText } from '../records/value.tsx';
import { formatNumber } from '../texts/format.ts';
import { allQuery } from './all-records.ts';
import { cornerOf, fillSheets, type LabelSheet, labelSheets, placesOf } from './label-sheets.ts';
import classes from './labels.module.css';
import { QrCode, useRecordAddress } from './qr-code.tsx';

const labelled = ['plants', 'containers'];
const lines = ['name', 'labelCode', 'site', 'place'] as const;
type Line = (typeof lines)[number];

export function LabelsPage() {
  const { collection = '' } = useParams({ strict: false });
  const definition = useDefinition(collection);
  return definition && labelled.includes(collection) ? <Labels definition={definition} /> : <NotFoundPage />;
}

function Labels({ definition }: { definition: Definition }) {
  const { t } = useTranslation();
  const parameters = useSearch({ strict: false }) as Record<string, string>;
  const { data, error, refetch } = useQuery(allQuery(definition.collection, parameters));
  const [sheetId, setSheetId] = useLocalStorage({ key: 'stamm-label-sheet', defaultValue: '63.5x38.1' });
  const [shown, setShown] = useLocalStorage<string[]>({ key: 'stamm-label-lines', defaultValue: [...lines] });
  const printPage = usePrintPage();
  const [start, setStart] = useState(1);
  const sheet = labelSheets.find(({ id }) => id === sheetId) ?? labelSheets[0]!;
  const first = Math.min(start, placesOf(sheet)) - 1;
  const records = data?.records.filter((record) => parameters.id || !isGone(record)) ?? [];
  // A label without its site's name is no label, and the browser prints the page at any time.
  const isNaming = useIsNaming(
    ['site'],
    shown.includes('site')
      ? records.flatMap(({ siteId }) => (siteId === undefined ? [] : String(siteId)))
      : [],
  );
  const isLoading = !data || isNaming;
  return (
    <>
      <div className="screen-only">
        <PageHead
          title={t('labels.title')}
          text={data && t('table.count', { count: records.length, formatted: formatNumber(records.length) })}
          trail={[{ title: pluralOf(definition), to: `/data/${definition.collection}` }]}
          actions={
            <Button
              leftSection={<Icon name="printer" size={16} />}
              disabled={records.length === 0}
              onClick={printPage}
            >
              {t('print.action')}
            </Button>
          }
        />
      </div>
      <Group gap="md" mb="md" align="flex-end" className="screen-only">
        <Select
          label={t('labels.sheet')}
          w={300}
          allowDeselect={false}
          data={labelSheets.map((one) => ({ value: one.id, label: sheetTitle(one) }))}
          value={sheet.id}
          onChange={(id) => id && setSheetId(id)}
        />
        <NumberInput
          label={t('labels.start')}
          w={150}
          min={1}
          max={placesOf(sheet)}
          allowDecimal={false}
          value={first + 1}
          onChange={(value) => setStart(Math.max(1, Number(value) || 1))}
        />
        <Chip.Group multiple value={shown} onChange={setShown}>
          <Group gap={6} role="group" aria-label={t('labels.lines')} pb={4}>
            {lines.map((line) => (
              <Chip key={line} value={line} size="sm">
                {t(`labels.line.${line}`)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Group>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {isLoading && !error && (
        <div className="screen-only">
          <Lines count={6} />
        </div>
      )}
      {data && records.length === 0 && (
        <div className="panel">
          <EmptyNote icon="qr" title={t('labels.none')} text={t('labels.noneText')}>
            <ButtonLink to={`/data/${definition.collection}`} variant="light" mt="sm">
              {pluralOf(definition)}
            </ButtonLink>
          </EmptyNote>
        </div>
      )}
      {data?.hasMore && (
        <Alert color="yellow" mb="md" className="screen-only">
          {t('labels.more', { shown: formatNumber(records.length) })}
        </Alert>
      )}
      <div className={classes.sheets}>
        {fillSheets(sheet, isLoading ? [] : records, first).map((page, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: sheets have no other identity.
          <div key={index} className={classes.sheet}>
            {page.map(({ place, label }) => (
              <RecordNet key={label.id} mark={<BrokenLabel sheet={sheet} place={place} id={label.id} />}>
                <Label
                  sheet={sheet}
                  place={place}
                  definition={definition}
                  record={label}
                  shown={shown as Line[]}
                />
              </RecordNet>
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

/** Only a label that somebody asked for by name is made for a plant that is gone. */
function isGone({ status }: Entity): boolean {
  return status === 'REMOVED' || status === 'REPLACED';
}

function sheetTitle({ width, height, columns, rows, articles }: LabelSheet): string {
  return `${formatNumber(width)} × ${formatNumber(height)} mm, ${columns} × ${rows} (${articles})`;
}

interface LabelProps {
  sheet: LabelSheet;
  place: number;
  definition: Definition;
  record: Entity;
  shown: readonly Line[];
}

function Label({ sheet, place, definition, record, shown }: LabelProps) {
  const addressOf = useRecordAddress();
  const name = labelOf(definition, record);
  const room = [record.building, record.floor, record.room, record.position].filter(Boolean).join(', ');
  return (
    <div
      className={classes.label}
      data-size={sheet.height < 15 ? 'tiny' : sheet.height < 28 ? 'small' : 'normal'}
      style={areaOf(sheet, place)}
    >
      <QrCode text={addressOf(definition.collection, record.id)} label={name} />
      <div className={classes.words}>
        {shown.includes('name') && <strong data-line="name">{name}</strong>}
        {shown.includes('labelCode') && record.labelCode !== undefined && (
          <span className="numbers">{String(record.labelCode)}</span>
        )}
        {shown.includes('site') && record.siteId !== undefined && (
          <span data-line="site">
            <NamedText resources={['site']} id={String(record.siteId)} />
          </span>
        )}
        {shown.includes('place') && room !== '' && <span data-line="place">{room}</span>}
      </div>
    </div>
  );
}

function BrokenLabel({ sheet, place, id }: Pick<LabelProps, 'sheet' | 'place'> & { id: string }) {
  const { t } = useTranslation();
  return (
    <div className={classes.label} style={areaOf(sheet, place)}>
      {t('print.unreadable', { id: id.slice(-6) })}
    </div>
  );
}

function areaOf(sheet: LabelSheet, place: number) {
  const { left, top } = cornerOf(sheet, place);
  return { left: `${left}mm`, top: `${top}mm`, width: `${sheet.width}mm`, height: `${sheet.height}mm` };
}
