// A file that was understood: what it holds, where its columns go, and what becomes of its rows.
import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { guessColumns, guessDefinition, missingColumns, officeColumnsOf } from '../../../core/columns.ts';
import type { ChosenColumns } from '../../../core/import-lines.ts';
import { type Definition, pluralOf, useDefinitions } from '../api/definitions.ts';
import { Confirmation } from '../frame/confirmation.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { Icon } from '../icons.tsx';
import { Card } from '../records/card.tsx';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { ColumnChoice } from './column-choice.tsx';
import classes from './import.module.css';
import { useNames } from './names.ts';
import { Preview } from './preview.tsx';
import type { OpenedFile } from './reader.ts';
import { RunPanel } from './run-panel.tsx';
import { useRun } from './use-run.ts';

interface PreparationProps {
  opened: OpenedFile;
  onClose: () => void;
}

interface OpenPreparationProps extends PreparationProps {
  onSheet: (name: string) => void;
}

export function Preparation({ opened, onClose, onSheet }: OpenPreparationProps) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const { titles, sheets = [] } = opened.table;
  const [definition, setDefinition] = useState(() => guessDefinition(definitions, titles));
  const [columns, setColumns] = useState<ChosenColumns>(() =>
    definition ? guessColumns(definition, titles) : [],
  );
  const run = useRun(opened.reader);
  const isRunning = run.state?.status === 'running';

  // A person who leaves now would not see the results.
  const blocker = useBlocker({
    shouldBlockFn: () => isRunning,
    enableBeforeUnload: () => isRunning,
    withResolver: true,
  });

  function choose(name: string | null) {
    const chosen = definitions.find((candidate) => candidate.name === name);
    setDefinition(chosen);
    setColumns(chosen ? guessColumns(chosen, titles) : []);
    run.forget();
  }

  return (
    <Stack gap="lg">
      <FileCard opened={opened} onClose={onClose} isRunning={isRunning}>
        <Group align="end" gap="md">
          {sheets.length > 1 && (
            <Select
              label={t('import.sheet')}
              w={{ base: '100%', xs: 280 }}
              allowDeselect={false}
              disabled={isRunning}
              data={sheets}
              value={opened.table.sheet ?? null}
              onChange={(name) => name && onSheet(name)}
            />
          )}
          <Select
            label={t('import.what')}
            w={{ base: '100%', xs: 280 }}
            placeholder={t('form.choose')}
            allowDeselect={false}
            disabled={isRunning}
            data={definitions.map((candidate) => ({ value: candidate.name, label: pluralOf(candidate) }))}
            value={definition?.name ?? null}
            onChange={choose}
          />
        </Group>
      </FileCard>
      {definition && opened.table.rowCount > 0 && (
        <Checks
          definition={definition}
          columns={columns}
          opened={opened}
          run={run}
          onClose={onClose}
          onColumns={(next) => {
            setColumns(next);
            run.forget();
          }}
        />
      )}
      {opened.table.rowCount === 0 && (
        <div className="panel">
          <EmptyNote icon="import" title={t('import.noRows')} text={t('import.noRowsText')} />
        </div>
      )}
      {blocker.status === 'blocked' && (
        <Confirmation
          title={t('import.leave')}
          text={t('import.leaveText')}
          action={t('form.leaveYes')}
          onConfirm={async () => {
            run.cancel();
            blocker.proceed();
          }}
          onClose={() => blocker.reset?.()}
        />
      )}
    </Stack>
  );
}

const separatorNames = { ';': 'semicolon', ',': 'comma', '\t': 'tab' } as const;

interface FileCardProps extends PreparationProps {
  isRunning: boolean;
  children: React.ReactNode;
}

function FileCard({ opened, onClose, isRunning, children }: FileCardProps) {
  const { t } = useTranslation();
  const { table, name, size } = opened;
  const facts = [
    t('import.rows', { count: table.rowCount, formatted: formatNumber(table.rowCount) }),
    t('import.columnCount', { count: table.titles.length }),
    size < 1_000_000
      ? `${formatNumber(Math.max(1, Math.round(size / 1000)))} kB`
      : `${formatNumber(size / 1_000_000, { maximumFractionDigits: 1 })} MB`,
    ...(table.encoding
      ? [
          t(`import.separators.${separatorNames[table.separator]}`),
          table.encoding === 'windows-1252' ? 'Windows-1252' : table.encoding.toUpperCase(),
        ]
      : [t('import.workbook')]),
  ];
  return (
    <Card
      title={<span className={classes.fileName}>{name}</span>}
      icon="import"
      actions={
        <Button size="xs" variant="default" disabled={isRunning} onClick={onClose}>
          {t('import.other')}
        </Button>
      }
    >
      <Text size="sm" c="dimmed" mb="md">
        {facts.join(' · ')}
      </Text>
      {children}
    </Card>
  );
}

interface ChecksProps extends PreparationProps {
  definition: Definition;
  columns: ChosenColumns;
  run: ReturnType<typeof useRun>;
  onColumns: (columns: ChosenColumns) => void;
}

function Checks({ definition, columns, opened, run, onColumns, onClose }: ChecksProps) {
  const { t } = useTranslation();
  const known = useMemo(() => officeColumnsOf(definition), [definition]);
  const missing = missingColumns(definition, columns);
  const names = useNames(opened, definition.name, columns);
  const start = (isDryRun: boolean) =>
    names.data &&
    run.start({
      type: definition.name,
      columns,
      names: names.data,
      isDryRun,
      total: opened.table.rowCount,
    });
  const isReady = names.data !== undefined && columns.some(Boolean);
  if (run.state)
    return (
      <RunPanel
        run={run}
        definition={definition}
        known={known}
        opened={opened}
        columns={columns}
        onImport={() => start(false)}
        onClose={onClose}
      />
    );
  return (
    <>
      <ColumnChoice table={opened.table} known={known} columns={columns} onChange={onColumns} />
      {missing.length > 0 && (
        <Alert color="yellow" variant="light" icon={<Icon name="warning" />} title={t('import.missing')}>
          <ul className={classes.missing}>
            {missing.map((some) => (
              <li key={some[0]!.path}>{some.map(({ titles }) => titles[currentLanguage()]).join(' / ')}</li>
            ))}
          </ul>
        </Alert>
      )}
      {names.error && <FailureNote error={names.error} onRetry={() => names.refetch()} />}
      {isReady && (
        <Preview
          table={opened.table}
          type={definition.name}
          columns={columns}
          names={names.data!}
          known={known}
        />
      )}
      <Group className={classes.foot} justify="flex-end">
        <Button variant="default" disabled={!isReady} onClick={() => start(true)}>
          {t('import.try')}
        </Button>
        <Button disabled={missing.length > 0 || !isReady} onClick={() => start(false)}>
          {t('import.start', {
            count: opened.table.rowCount,
            formatted: formatNumber(opened.table.rowCount),
          })}
        </Button>
      </Group>
    </>
  );
}
