// The rows with their errors, everything that a person decides about them, and the way into the database.
import { Alert, Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { missingColumns, missingForCertain, officeColumnsOf } from '../../../core/table/columns.ts';
import type { FileChoices } from '../../../core/table/remembered-choices.ts';
import { planLines, silentFlags, takenPaths } from '../../../core/table/table-import.ts';
import { WithCreation } from '../forms/picker-creation.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { useChanges } from './check/changes.ts';
import type { DuplicateChoice } from './check/duplicates.ts';
import { DuplicatesPanel } from './check/duplicates-panel.tsx';
import { ImportTable } from './check/import-table.tsx';
import { StateCountsBar } from './check/state-counts.tsx';
import { countLeftOut, countStates, useCheck } from './check/use-check.ts';
import { useRows } from './check/use-rows.ts';
import { useWholeCheck } from './check/use-whole-check.ts';
import { ErrorsSection } from './errors-section.tsx';
import { FixedValuesCard, toFixed } from './fixed-values.tsx';
import { GuessesCard } from './guesses-card.tsx';
import classes from './import.module.css';
import { NameChoicesCard } from './name-choices.tsx';
import { knownNames, type NameChoices, unclearNames, useNames } from './names.ts';
import type { OpenedFile } from './reader.ts';
import { RunPanel } from './run-panel.tsx';
import type { useRun } from './use-run.ts';

interface ChecksProps {
  opened: OpenedFile;
  choices: FileChoices;
  onChoices: (changed: Partial<FileChoices>) => void;
  run: ReturnType<typeof useRun>;
  onClose: () => void;
}

export function Checks({ opened, choices, onChoices, run, onClose }: ChecksProps) {
  const { t } = useTranslation();
  const { definition, columns, refused } = choices;
  const { table } = opened;
  const known = useMemo(() => officeColumnsOf(definition), [definition]);
  const [nameChoices, setNameChoices] = useState<NameChoices>(new Map());
  const [duplicateChoices, setDuplicateChoices] = useState<ReadonlyMap<number, DuplicateChoice>>(new Map());
  const [isSearching, setIsSearching] = useState(false);
  const { rows, shown, show, edition, edit } = useRows(opened);
  const names = useNames(opened, definition.name, columns, edition);
  const taken = useMemo(() => takenPaths(columns), [columns]);
  const entered = omit(choices.fixed, taken);
  const fixed = toFixed(definition, entered);
  const lacking = missingForCertain(definition, [...columns, ...known.filter(({ path }) => path in fixed)]);
  const plan =
    names.data && columns.some(Boolean)
      ? planLines({
          ...{ definition, columns, table, fixed, refused },
          language: currentLanguage(),
          facts: names.data.facts,
          names: knownNames(names.data.names, nameChoices),
        })
      : undefined;
  const check = useCheck({ opened, plan, edition, choices: duplicateChoices });
  const results = useWholeCheck(run, check);
  const duplicates = useMemo(
    () => new Set(check.duplicates.filter(({ entity }) => entity).map(({ compared }) => compared.row)),
    [check.duplicates],
  );
  const counts = countStates(table, results, duplicates);
  const changes = useChanges({ definition, plan, rows, results, choices: check.rowChoices });
  const unclear = unclearNames(names.data?.names ?? [], columns, refused);
  const silent = silentFlags(definition, columns).filter((path) => !(path in fixed));

  if (plan && run.state && (run.state.status !== 'done' || !run.state.isDryRun))
    return (
      <RunPanel
        {...{ run, definition, known, opened, plan, onClose }}
        onImport={() => void run.start({ plan, choices: check.rowChoices, isDryRun: false })}
      />
    );

  async function begin(isDryRun: boolean) {
    if (!plan) return;
    setIsSearching(true);
    try {
      if (await check.findMore()) return;
      await run.start({ plan, choices: check.rowChoices, isDryRun });
    } catch (error) {
      tellFailure(error);
    } finally {
      setIsSearching(false);
    }
  }

  const importable = table.rowCount - (counts.leftOut - countLeftOut(table)) - counts.failed;
  return (
    <>
      {lacking.length > 0 && (
        <Alert
          p="xs"
          color="yellow"
          variant="light"
          icon={<Icon name="warning" />}
          title={`${t('import.missing')}: ${lacking
            .map((some) => some.map(({ titles }) => titles[currentLanguage()]).join(' / '))
            .join(', ')}`}
        />
      )}
      {names.error && <FailureNote error={names.error} onRetry={() => names.refetch()} />}
      {check.error && <FailureNote error={check.error} onRetry={check.retry} />}
      <ImportTable
        {...{ table, known, columns, plan, rows, results, changes, duplicates }}
        onColumn={(index, column) => onChoices({ columns: columns.with(index, column) })}
        onEdit={edit}
      />
      <div className={classes.foot}>
        <StateCountsBar
          counts={counts}
          isChecking={check.isChecking}
          shown={shown}
          onShow={(state) => show(state, results, duplicates)}
        />
        <div className={classes.footActions}>
          {counts.open > 0 && !check.isChecking && (
            <Button variant="default" disabled={!plan} onClick={() => void begin(true)}>
              {t('import.try')}
            </Button>
          )}
          <Button
            disabled={lacking.length > 0 || !plan || importable === 0}
            loading={isSearching}
            onClick={() => void begin(false)}
          >
            {t('import.start', { count: importable, formatted: formatNumber(importable) })}
          </Button>
        </div>
      </div>
      <div className={classes.sections}>
        {unclear.length > 0 && (
          <WithCreation>
            <NameChoicesCard
              type={definition.name}
              hasComment={definition.fields.some(({ name }) => name === 'comment')}
              names={unclear}
              choices={nameChoices}
              onChange={setNameChoices}
            />
          </WithCreation>
        )}
        {check.duplicates.length > 0 && (
          <DuplicatesPanel
            definition={definition}
            duplicates={check.duplicates}
            choices={duplicateChoices}
            onChange={setDuplicateChoices}
          />
        )}
        {plan && counts.failed > 0 && <ErrorsSection {...{ opened, plan, known, results }} />}
        {plan && (
          <GuessesCard
            {...{ opened, plan, edition, refused }}
            silentFlags={silent.map(
              (path) => known.find((column) => column.path === path)!.titles[currentLanguage()],
            )}
            onRefuse={(next) => onChoices({ refused: next })}
          />
        )}
        <FixedValuesCard
          {...{ definition, taken, entered }}
          missing={missingColumns(definition, columns).map(([first]) => first!.path)}
          onChange={(next) => onChoices({ fixed: next })}
        />
      </div>
    </>
  );
}

function omit(values: FileChoices['fixed'], paths: ReadonlySet<string>): FileChoices['fixed'] {
  return Object.fromEntries(Object.entries(values).filter(([path]) => !paths.has(path)));
}
