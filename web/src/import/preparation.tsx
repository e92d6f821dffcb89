// A file that was understood: what it holds, where its columns go, and what becomes of its rows.
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { guessColumns, guessDefinition } from '../../../core/table/columns.ts';
import type { FileChoices } from '../../../core/table/remembered-choices.ts';
import { useDefinitions } from '../api/definitions.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { EmptyNote } from '../frame/failure.tsx';
import { PageLoading } from '../frame/loading.tsx';
import { Checks } from './checks.tsx';
import { FileBar } from './file-bar.tsx';
import type { OpenedFile } from './reader.ts';
import { rememberedFile, rememberFile } from './remembered.ts';
import { useRun } from './use-run.ts';

interface PreparationProps {
  opened: OpenedFile;
  onClose: () => void;
  onSheet: (name: string) => void;
  onTitleRow: (row: number) => void;
}

export function Preparation(props: PreparationProps) {
  const definitions = useDefinitions();
  const { name, table, size } = props.opened;
  const remembered = useQuery({
    queryKey: ['import choices', name, size, table.sheet, table.titles],
    queryFn: async () => (await rememberedFile(definitions, table.titles)) ?? null,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // If the service fails, the guess is as good as for a new file.
  return remembered.isPending ? (
    <PageLoading />
  ) : (
    <PreparedFile {...props} remembered={remembered.data ?? undefined} />
  );
}

function PreparedFile(props: PreparationProps & { remembered: FileChoices | undefined }) {
  const { opened, remembered, onClose, onSheet, onTitleRow } = props;
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const { titles } = opened.table;
  const [choices, setChoices] = useState(() => remembered ?? guess());
  const run = useRun(opened);
  const isRunning = run.state?.status === 'running';

  // A person who leaves now would not see the results.
  const blocker = useBlocker({
    shouldBlockFn: () => isRunning,
    enableBeforeUnload: () => isRunning,
    withResolver: true,
  });

  function guess(definition = guessDefinition(definitions, titles)): FileChoices | undefined {
    return (
      definition && {
        definition,
        columns: guessColumns(definition, titles),
        fixed: {},
        refused: new Set(),
      }
    );
  }

  function choose(next: FileChoices | undefined) {
    setChoices(next);
    rememberFile(titles, next);
    run.forget();
  }

  return (
    <Stack gap="sm">
      <FileBar
        {...{ opened, isRunning, onClose, onSheet, onTitleRow }}
        definition={choices?.definition}
        isRemembered={remembered !== undefined && choices === remembered}
        onDefinition={(name) => choose(guess(definitions.find((candidate) => candidate.name === name)))}
        onForget={() => {
          rememberFile(titles, undefined);
          setChoices(guess());
        }}
      />
      {choices && opened.table.rowCount > 0 && (
        <Checks
          key={choices.definition.name}
          {...{ choices, opened, run, onClose }}
          onChoices={(changed) => choose({ ...choices, ...changed })}
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
