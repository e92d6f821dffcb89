// A file that was understood: what it holds, where its columns go, and what becomes of its rows.
import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { guessColumns, guessDefinition, missingColumns, officeColumnsOf } from '../../../core/columns.ts';
import type { RowChoices } from '../../../core/compared-rows.ts';
import type { ChosenColumns, LinePlan } from '../../../core/import-lines.ts';
import { type Definition, pluralOf, useDefinitions } from '../api/definitions.ts';
import { WithCreation } from '../forms/picker-creation.tsx';
import { Card } from '../frame/card.tsx';
import { Confirmation } from '../frame/confirmation.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber, listNumbers } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { ColumnChoice } from './column-choice.tsx';
import { DuplicatesPanel } from './duplicates-panel.tsx';
import { type FixedValues, FixedValuesCard, toFixed } from './fixed-values.tsx';
import classes from './import.module.css';
import { NameChoicesCard } from './name-choices.tsx';
import { knownNames, type NameChoices, unclearNames, useNames } from './names.ts';
import { Preview } from './preview.tsx';
import type { OpenedFile } from './reader.ts';
import { RunPanel } from './run-panel.tsx';
import { useDuplicates } from './use-duplicates.ts';
import { useRun } from './use-run.ts';

interface PreparationProps {
  opened: OpenedFile;
  onClose: () => void;
}

interface OpenPreparationProps extends PreparationProps {
  onSheet: (name: string) => void;
  onTitleRow: (row: number) => void;
}

export function Preparation({ opened, onClose, onSheet, onTitleRow }: OpenPreparationProps) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const { titles, sheets = [] } = opened.table;
  const [definition, setDefinition] = useState(() => guessDefinition(definitions, titles));
  const [columns, setColumns] = useState<ChosenColumns>(() =>
    definition ? guessColumns(definition, titles) : [],
  );
  const run = useRun(opened);
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
            label={t('import.titleRow')}
            w={{ base: '100%', xs: 280 }}
            allowDeselect={false}
            disabled={isRunning}
            data={[
              ...opened.table.firstRows.map(({ number, cells }) => ({
                value: String(number),
                label: t('import.titleRowNumber', { number, titles: cells.filter(Boolean).join(', ') }),
              })),
              { value: '0', label: t('import.noTitleRow') },
            ]}
            value={String(opened.table.titleRow)}
            onChange={(row) => row && onTitleRow(Number(row))}
          />
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
  const { end, repeatedHead } = table.leftOut;
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
      {repeatedHead.length > 0 && (
        <Text size="sm" mb="md">
          {t('import.repeatedTitles', {
            count: repeatedHead.length,
            formatted: formatNumber(repeatedHead.length),
            numbers: listNumbers(repeatedHead),
          })}
        </Text>
      )}
      {end.map(({ number, cells }) => (
        <Text key={number} size="sm" mb="md" className={classes.fileName}>
          {t('import.leftOutRow', { number, text: cells.filter((cell) => cell?.trim()).join(' · ') })}
        </Text>
      ))}
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
  const [fixedValues, setFixedValues] = useState<FixedValues>({});
  const [nameChoices, setNameChoices] = useState<NameChoices>(new Map());
  const [rowChoices, setRowChoices] = useState<RowChoices>(new Map());
  const names = useNames(opened, definition.name, columns);
  const taken = useMemo(() => takenPaths(columns), [columns]);
  const fixed = toFixed(definition, omit(fixedValues, taken));
  const fixedColumns = known.filter(({ path }) => path in fixed);
  const missing = missingColumns(definition, columns);
  const lacking = missingColumns(definition, [...columns, ...fixedColumns]);
  const plan: LinePlan | undefined = names.data && {
    type: definition.name,
    columns,
    mark: opened.table.thousandsMark,
    names: knownNames(names.data, nameChoices),
    onlyYes: opened.table.onlyYes,
    fixed,
  };
  const duplicates = useDuplicates(opened.reader);
  const unclear = unclearNames(names.data ?? [], columns);

  async function begin(isDryRun: boolean) {
    if (!plan) return;
    if (await duplicates.search(plan, isDryRun)) return;
    setRowChoices(new Map());
    await run.start({ plan, choices: new Map(), isDryRun });
  }

  const isReady = plan !== undefined && columns.some(Boolean);
  if (run.state)
    return (
      <RunPanel
        run={run}
        definition={definition}
        known={known}
        opened={opened}
        columns={columns}
        onImport={() => plan && run.start({ plan, choices: rowChoices, isDryRun: false })}
        onClose={onClose}
      />
    );
  if (duplicates.found && plan)
    return (
      <DuplicatesPanel
        definition={definition}
        duplicates={duplicates.found}
        isDryRun={duplicates.isForDryRun}
        onBack={duplicates.forget}
        onContinue={(choices) => {
          setRowChoices(choices);
          duplicates.forget();
          void run.start({ plan, choices, isDryRun: duplicates.isForDryRun });
        }}
      />
    );
  return (
    <>
      <ColumnChoice table={opened.table} known={known} columns={columns} onChange={onColumns} />
      <FixedValuesCard
        definition={definition}
        taken={taken}
        missing={missing.map(([first]) => first!.path)}
        entered={omit(fixedValues, taken)}
        onChange={setFixedValues}
      />
      {lacking.length > 0 && (
        <Alert color="yellow" variant="light" icon={<Icon name="warning" />} title={t('import.missing')}>
          <ul className={classes.missing}>
            {lacking.map((some) => (
              <li key={some[0]!.path}>{some.map(({ titles }) => titles[currentLanguage()]).join(' / ')}</li>
            ))}
          </ul>
        </Alert>
      )}
      {names.error && <FailureNote error={names.error} onRetry={() => names.refetch()} />}
      {unclear.length > 0 && (
        <WithCreation>
          <NameChoicesCard names={unclear} choices={nameChoices} onChange={setNameChoices} />
        </WithCreation>
      )}
      {duplicates.error && <FailureNote error={duplicates.error} />}
      {isReady && <Preview table={opened.table} plan={plan} known={known} />}
      <Group className={classes.foot} justify="flex-end">
        <Button
          variant="default"
          disabled={!isReady || duplicates.isSearching}
          onClick={() => void begin(true)}
        >
          {t('import.try')}
        </Button>
        <Button
          disabled={lacking.length > 0 || !isReady}
          loading={duplicates.isSearching}
          onClick={() => void begin(false)}
        >
          {t('import.start', {
            count: opened.table.rowCount,
            formatted: formatNumber(opened.table.rowCount),
          })}
        </Button>
      </Group>
    </>
  );
}

/** The fields that columns bring. */
function takenPaths(columns: ChosenColumns): Set<string> {
  return new Set(
    columns.flatMap((column) =>
      column ? [column.path, column.namedPath ?? '', ...(column.parts?.paths ?? [])] : [],
    ),
  );
}

function omit(values: FixedValues, paths: ReadonlySet<string>): FixedValues {
  return Object.fromEntries(Object.entries(values).filter(([path]) => !paths.has(path)));
}
