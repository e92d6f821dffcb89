// A run over the whole file while it goes on, and how it ended.
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { columnAt, errorTitles, type ImportColumn } from '../../../core/columns.ts';
import type { ChosenColumns } from '../../../core/import-lines.ts';
import { type Definition, pluralOf } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber, listNumbers } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { saveBlob } from './download.ts';
import classes from './import.module.css';
import type { OpenedFile } from './reader.ts';
import type { RowError } from './sending.ts';
import { UndoImport } from './undo-import.tsx';
import type { RunState, useRun } from './use-run.ts';

interface RunPanelProps {
  run: ReturnType<typeof useRun>;
  definition: Definition;
  known: readonly ImportColumn[];
  opened: OpenedFile;
  columns: ChosenColumns;
  onImport: () => void;
  onClose: () => void;
}

export function RunPanel(props: RunPanelProps) {
  const state = props.run.state!;
  const panel = useRef<HTMLDivElement>(null);
  // It takes the place of what was clicked, so the keyboard and the eye go on here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each run, and once for its end.
  useEffect(() => panel.current?.focus(), [state.status]);
  return (
    <div ref={panel} tabIndex={-1} className={classes.run}>
      {state.status === 'running' ? (
        <Running state={state} onCancel={props.run.cancel} />
      ) : (
        <Outcome {...props} />
      )}
    </div>
  );
}

function Running({ state, onCancel }: { state: RunState; onCancel: () => void }) {
  const { t } = useTranslation();
  const { read, total, counts, startedAt, isDryRun } = state;
  const share = total > 0 ? read / total : 1;
  const seconds = Math.ceil(((Date.now() - startedAt) / 1000 / Math.max(share, 0.001)) * (1 - share));
  const title = t(isDryRun ? 'import.trying' : 'import.running');
  return (
    <Card title={title} icon="import">
      <Stack gap="sm">
        <Progress.Root size="lg">
          <Progress.Section
            value={share * 100}
            aria-label={title}
            animated
            aria-valuetext={t('import.progress', { read: formatNumber(read), total: formatNumber(total) })}
          />
        </Progress.Root>
        <Group justify="space-between" gap="xs">
          <Text size="sm" className="numbers">
            {t('import.progress', { read: formatNumber(read), total: formatNumber(total) })}
            {counts.failed > 0 &&
              ` · ${t('import.invalidCount', { count: counts.failed, formatted: formatNumber(counts.failed) })}`}
            {read > 0 && seconds > 2 && ` · ${t('import.remaining', { count: seconds })}`}
          </Text>
          <Button size="xs" variant="default" onClick={onCancel}>
            {t('actions.cancel')}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

const headings = {
  done: 'import.done',
  cancelled: 'import.cancelled',
  failed: 'import.broken',
} as const;

function Outcome({ run, definition, known, opened, columns, onImport, onClose }: RunPanelProps) {
  const { t } = useTranslation();
  const state = run.state!;
  const { isDryRun, status, counts, errors } = state;
  const titleOf = (field: string) => columnAt(known, field)?.titles[currentLanguage()] ?? field;

  async function saveReport() {
    const sentences = new Map([...errors].map(([row, some]) => [row, sentencesOf(some, titleOf)]));
    const blob = await opened.reader.report(columns, sentences, errorTitles[currentLanguage()]);
    saveBlob(blob, t('import.reportName', { name: opened.name.replace(/\.\w+$/, '') }));
  }

  const heading = isDryRun && status === 'done' ? 'import.tried' : headings[status as keyof typeof headings];
  return (
    <Card title={t(heading)} icon={counts.failed > 0 || status !== 'done' ? 'attention' : 'done'}>
      <Stack gap="lg">
        {status !== 'done' && (
          <Text size="sm">
            {t(isDryRun ? 'import.untilHereTried' : 'import.untilHere', {
              read: formatNumber(state.read),
              total: formatNumber(state.total),
            })}
          </Text>
        )}
        {status === 'failed' && <FailureNote error={state.error} />}
        <dl className={classes.counts} aria-live="polite">
          {(['created', 'replaced', 'unchanged', 'failed'] as const).map((name) => (
            <div key={name} data-invalid={(name === 'failed' && counts.failed > 0) || undefined}>
              <dt>{t(`import.${isDryRun ? 'wouldBe' : 'were'}.${name}`)}</dt>
              <dd className="numbers">{formatNumber(counts[name])}</dd>
            </div>
          ))}
        </dl>
        {errors.size > 0 && <ErrorGroups errors={errors} titleOf={titleOf} />}
        {errors.size > 0 && (
          <Alert color="yellow" variant="light" icon={<Icon name="info" />}>
            {t('import.reportText')}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          {state.importId && counts.created + counts.replaced > 0 && <UndoImport id={state.importId} />}
          {errors.size > 0 && (
            <Button
              variant="default"
              leftSection={<Icon name="download" size={16} />}
              onClick={() => saveReport().catch(tellFailure)}
            >
              {t('import.report', { formatted: formatNumber(errors.size) })}
            </Button>
          )}
          {isDryRun || status === 'failed' ? (
            <>
              <Button variant="default" onClick={run.forget}>
                {t('import.backToColumns')}
              </Button>
              <Button onClick={onImport} disabled={counts.created + counts.replaced + counts.unchanged === 0}>
                {t(errors.size > 0 ? 'import.startFaultless' : 'import.startNow')}
              </Button>
            </>
          ) : (
            <>
              <Button variant="default" onClick={onClose}>
                {t('import.another')}
              </Button>
              <ButtonLink to={`/data/${definition.collection}`}>
                {t('import.toTable', { what: pluralOf(definition) })}
              </ButtonLink>
            </>
          )}
        </Group>
      </Stack>
    </Card>
  );
}

function sentencesOf(errors: readonly RowError[], titleOf: (field: string) => string): string {
  return errors.map(({ field, message }) => `${field && `${titleOf(field)}: `}${message}`).join(' ');
}

const shownGroups = 20;

interface ErrorGroupsProps {
  errors: RunState['errors'];
  titleOf: (field: string) => string;
}

/** The same error in a thousand rows is one thing to fix. */
function ErrorGroups({ errors, titleOf }: ErrorGroupsProps) {
  const { t } = useTranslation();
  const groups = new Map<string, { error: RowError; rows: number[] }>();
  for (const [row, some] of errors) {
    for (const error of some) {
      const key = `${titleOf(error.field)}\n${error.message}`;
      const group = groups.get(key) ?? { error, rows: [] };
      group.rows.push(row);
      groups.set(key, group);
    }
  }
  const sorted = [...groups.entries()].sort(([, one], [, other]) => other.rows.length - one.rows.length);
  return (
    <div>
      <Text fw={600} size="sm" mb={6}>
        {t('import.wrong')}
      </Text>
      <ul className={classes.groups}>
        {sorted.slice(0, shownGroups).map(([key, { error, rows }]) => (
          <li key={key}>
            <span>
              {error.field && <strong>{titleOf(error.field)}: </strong>}
              {error.message}
            </span>
            <Text size="xs" c="dimmed" component="span" className="numbers">
              {t('import.inRows', { count: rows.length, formatted: formatNumber(rows.length) })}
              {': '}
              {listNumbers(rows)}
            </Text>
          </li>
        ))}
      </ul>
      {sorted.length > shownGroups && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('import.moreGroups', { count: sorted.length - shownGroups })}
        </Text>
      )}
    </div>
  );
}
