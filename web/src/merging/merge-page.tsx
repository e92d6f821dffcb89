// Merges records that are the same: the fields side by side, and one choice for each that differs.
import { Button, Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQueries } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, send, toApiError } from '../api/client.ts';
import {
  type Definition,
  type Entity,
  type Field,
  hintOf,
  labelOf,
  pluralOf,
  titleOf,
  useDefinition,
} from '../api/definitions.ts';
import { recordQuery, useForgetReadings } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { EmptyNote, FailureNote, NotAllowedPage, NotFoundPage } from '../frame/failure.tsx';
import { AnchorLink, ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { tell } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { undoImport } from '../import/import-runs.ts';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import { NamedText } from '../records/value.tsx';
import { formatDay, formatNumber } from '../texts/format.ts';
import classes from './merge.module.css';
import { defaultChoices, differingFields, pendingName, plainValue } from './merging.ts';

export function MergePage() {
  const { t } = useTranslation();
  const { collection, id } = useParams({ strict: false }) as { collection: string; id: string };
  const { with: others = '' } = useSearch({ strict: false }) as { with?: string };
  const definition = useDefinition(collection);
  const mayEdit = useMayEdit();
  const ids = [...new Set([id, ...String(others).split(',').filter(Boolean)])];
  const readings = useQueries({
    queries: ids.map((one) => ({ ...recordQuery(collection, one), enabled: definition !== undefined })),
  });
  if (!definition) return <NotFoundPage />;
  if (!mayEdit) return <NotAllowedPage />;
  const error = readings.find((reading) => reading.error)?.error;
  const entities = readings.flatMap(({ data }) => data ?? []);
  const isComplete = entities.length === ids.length;
  // A former id returns the record that stays.
  const records = [...new Map(entities.map((entity) => [entity.id, entity])).values()];
  return (
    <div className={classes.page}>
      <PageHead
        title={t('merge.title')}
        text={t('merge.text')}
        trail={[
          { title: t('attention.title'), to: '/attention' },
          { title: pluralOf(definition), to: `/data/${collection}` },
        ]}
      />
      {error && <FailureNote error={error} />}
      {!error && !isComplete && <Lines count={8} height={40} />}
      {isComplete && records.length < 2 && (
        <div className="panel">
          <EmptyNote icon="check" title={t('merge.nothing')}>
            <ButtonLink to="/attention" variant="light" mt="sm">
              {t('attention.title')}
            </ButtonLink>
          </EmptyNote>
        </div>
      )}
      {isComplete && records.length > 1 && (
        <MergeForm
          key={records.map(({ id: one, version }) => `${one} ${version}`).join()}
          definition={definition}
          records={records}
          onStale={() => Promise.all(readings.map(({ refetch }) => refetch()))}
        />
      )}
    </div>
  );
}

interface MergeFormProps {
  definition: Definition;
  /** The first one stays. */
  records: readonly Entity[];
  onStale: () => Promise<unknown>;
}

function MergeForm({ definition, records, onStale }: MergeFormProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forgetReadings = useForgetReadings();
  const { collection } = definition;
  const [winner, ...losers] = records as [Entity, ...Entity[]];
  const fields = differingFields(definition, records);
  const [choices, setChoices] = useState(() => defaultChoices(fields, records));
  async function undo(undoId: string): Promise<void> {
    const { kept } = await undoImport(undoId);
    await forgetReadings();
    if (kept > 0) throw new ApiError(0, { message: t('grid.undoFailed', { count: kept }) });
    tell(t('undo.done'));
  }
  const merging = useMutation({
    mutationFn: async () => {
      const response = await send('POST', `/${collection}/${winner.id}/merge`, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          ids: losers.map(({ id }) => id),
          fields: choices,
          versions: Object.fromEntries(records.map(({ id, version }) => [id, version])),
        }),
      });
      const { moved } = (await response.json()) as { moved: { count: number }[] };
      return { moved, undoId: response.headers.get('X-Request-Id')! };
    },
    onSuccess: async ({ moved, undoId }) => {
      await navigate({ to: `/data/${collection}/${winner.id}`, replace: true });
      const count = moved.reduce((sum, one) => sum + one.count, 0);
      tell(
        t(count > 0 ? 'merge.doneMoved' : 'merge.done', {
          count,
          number: formatNumber(count),
          name: labelOf(definition, winner),
        }),
        { label: t('undo.undo'), run: () => undo(undoId) },
      );
      await forgetReadings();
    },
    onError: async (error) => {
      if (toApiError(error).code === 'version_mismatch') await onStale();
    },
  });
  const failure = merging.error && toApiError(merging.error);
  const errorOf = (field: Field) => {
    const error = failure?.errors.find(({ field: path }) => path.split('.')[0] === field.name);
    return error && fieldErrorText(field, error, definition);
  };
  const cols = { base: 1, xs: Math.min(records.length, 2), md: Math.min(records.length, 4) };
  return (
    <Stack gap="lg">
      <SimpleGrid cols={cols} spacing="sm">
        {records.map((record) => (
          <div key={record.id} className={`panel ${classes.record}`}>
            <AnchorLink to={`/data/${collection}/${record.id}`} fw={550} c="var(--stamm-ink)">
              {labelOf(definition, record)}
            </AnchorLink>
            <Text size="sm" c="dimmed">
              {hintOf(definition, record)}
            </Text>
            <Text size="xs" c="dimmed">
              {t('merge.created', { day: formatDay(String(record.createdAt).slice(0, 10)) })}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      <div className={`panel ${classes.fields}`}>
        {fields.length === 0 && <Text size="sm">{t('merge.same')}</Text>}
        {fields.map((field) => (
          <Radio.Group
            key={field.name}
            label={titleOf(field)}
            error={errorOf(field)}
            value={choices[field.name] ?? null}
            onChange={(id) => setChoices({ ...choices, [field.name]: id })}
          >
            <SimpleGrid cols={cols} mt={6} spacing="sm">
              {records.map((record) => (
                <Radio.Card key={record.id} value={record.id} p="sm" radius="md">
                  <Group wrap="nowrap" align="flex-start" gap="sm">
                    <Radio.Indicator mt={2} />
                    <Text size="sm" component="div" className={classes.value}>
                      <FieldValue field={field} record={record} />
                    </Text>
                  </Group>
                </Radio.Card>
              ))}
            </SimpleGrid>
          </Radio.Group>
        ))}
      </div>
      <Text size="sm" c="dimmed" maw={680}>
        {t('merge.consequence')}
      </Text>
      {failure && !fields.some((field) => errorOf(field)) && <FailureNote error={failure} />}
      <Group justify="flex-end">
        <ButtonLink variant="default" to="/attention">
          {t('actions.cancel')}
        </ButtonLink>
        <Button loading={merging.isPending} onClick={() => merging.mutate()}>
          {t('merge.confirm')}
        </Button>
      </Group>
    </Stack>
  );
}

/** Cards are buttons, which hold no links. */
function FieldValue({ field, record }: { field: Field; record: Entity }) {
  const { t } = useTranslation();
  const value = record[field.name];
  if (field.reference && typeof value === 'string')
    return <NamedText resources={field.reference.resources} id={value} />;
  if (field.reference) return String(pendingName(field, record) ?? '–');
  if (field.kind === 'flag' && value !== undefined) return t(value ? 'record.yes' : 'record.no');
  if (Array.isArray(value)) return t('merge.items', { count: value.length });
  return plainValue(field, record);
}
