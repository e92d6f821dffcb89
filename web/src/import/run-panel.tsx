// A run over the whole file while it goes on, and how it ended.
import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { ImportColumn } from '../../../core/table/columns.ts';
import type { LinePlan } from '../../../core/table/import-lines.ts';
import { type Definition, pluralOf } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { formatNumber } from '../texts/format.ts';
import { countLeftOut } from './check/use-check.ts';
import { ErrorsSection } from './errors-section.tsx';
import classes from './import.module.css';
import type { OpenedFile } from './reader.ts';
import { UndoImport } from './undo-import.tsx';
import type { RunState, useRun } from './use-run.ts';

interface RunPanelProps {
  run: ReturnType<typeof useRun>;
  definition: Definition;
  known: readonly ImportColumn[];
  opened: OpenedFile;
  plan: LinePlan;
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

function Outcome({ run, definition, known, opened, plan, onImport, onClose }: RunPanelProps) {
  const { t } = useTranslation();
  const state = run.state!;
  const { isDryRun, status, counts } = state;
  const heading = headings[status as keyof typeof headings];
  const leftOut =
    countLeftOut(opened.table) +
    [...state.rows.values()].filter(({ outcome }) => outcome === 'leftOut').length;
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
          {leftOut > 0 && (
            <div>
              <dt>{t('import.leftOut')}</dt>
              <dd className="numbers">{formatNumber(leftOut)}</dd>
            </div>
          )}
        </dl>
        {counts.failed > 0 && <ErrorsSection {...{ opened, plan, known }} results={state.rows} />}
        <Group justify="flex-end" gap="xs">
          {state.importId && counts.created + counts.replaced > 0 && <UndoImport id={state.importId} />}
          {isDryRun || status === 'failed' ? (
            <>
              <Button variant="default" onClick={run.forget}>
                {t('import.backToColumns')}
              </Button>
              <Button onClick={onImport} disabled={counts.created + counts.replaced + counts.unchanged === 0}>
                {t(counts.failed > 0 ? 'import.startFaultless' : 'import.startNow')}
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
