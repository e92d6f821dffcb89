// "Undo this import": the question, the progress, and what could not be undone.
import { Button, Modal, Progress, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDefinitions } from '../api/definitions.ts';
import { FailureNote } from '../frame/failure.tsx';
import { tell } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { MoreButton } from '../inputs/more-button.tsx';
import { type ActorNames, actorText } from '../records/actor.tsx';
import { NamedLink } from '../records/value.tsx';
import { formatNumber, formatTime } from '../texts/format.ts';
import classes from './import.module.css';
import { entriesOf, keptQuery, useUndoImport } from './import-runs.ts';

interface UndoImportProps {
  id: string;
  /** Whether an earlier attempt was interrupted. */
  isBegun?: boolean;
  /** Whether there is anything to undo. The dialog outlasts it, to tell the result. */
  isOpen?: boolean;
}

export function UndoImport({ id, isBegun = false, isOpen = true }: UndoImportProps) {
  const { t } = useTranslation();
  const [isAsked, setIsAsked] = useState(false);
  return (
    <>
      {isOpen && (
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Icon name="history" size={16} />}
          onClick={() => setIsAsked(true)}
        >
          {t(isBegun ? 'import.undo.continue' : 'import.undo.undo')}
        </Button>
      )}
      {isAsked && <UndoDialog id={id} onClose={() => setIsAsked(false)} />}
    </>
  );
}

function UndoDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const { work, progress } = useUndoImport(id);
  const done = work.data;
  const share = progress ? (progress.settled / Math.max(1, entriesOf(progress))) * 100 : 0;
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={!work.isPending}
      closeOnEscape={!work.isPending}
      closeOnClickOutside={!work.isPending}
      title={t(done ? 'import.undo.done' : 'import.undo.title')}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      <Stack>
        {!done && <Text size="sm">{t('import.undo.text')}</Text>}
        {work.isPending && (
          <Progress.Root size="lg">
            <Progress.Section value={share} animated aria-label={t('import.undo.running')} />
          </Progress.Root>
        )}
        {work.error && <FailureNote error={work.error} />}
        {done && (
          <Text size="sm" role="status">
            {done.kept > 0
              ? t('import.undo.someKept', { count: done.kept, formatted: formatNumber(done.kept) })
              : t('import.undo.allUndone')}
          </Text>
        )}
        {done && done.kept > 0 && <KeptList id={id} />}
        <div className={classes.dialogFoot}>
          {!work.isPending && (
            <Button variant={done ? 'filled' : 'default'} onClick={onClose} data-autofocus>
              {t(done ? 'actions.close' : 'actions.cancel')}
            </Button>
          )}
          {!done && (
            <Button
              color="red.8"
              loading={work.isPending}
              onClick={() =>
                work.mutate(undefined, {
                  onSuccess: ({ kept }) => {
                    if (kept > 0) return;
                    tell(t('import.undo.done'));
                    onClose();
                  },
                })
              }
            >
              {t('import.undo.undo')}
            </Button>
          )}
        </div>
      </Stack>
    </Modal>
  );
}

/** Objects that were left as they are, with who wrote them since. */
export function KeptList({ id }: { id: string }) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const kept = useInfiniteQuery(keptQuery(id));
  if (kept.error) return <FailureNote error={kept.error} onRetry={() => kept.refetch()} />;
  return (
    <>
      <ul className={classes.groups}>
        {(kept.data?.pages.flatMap((page) => page.data) ?? []).map(
          ({ resource, id: objectId, reason, at, ...actor }) => {
            const definition = definitions.find(({ name }) => name === resource);
            return (
              <li key={objectId}>
                {definition && <NamedLink resources={[definition.name]} id={objectId} />}
                <Text size="xs" c="dimmed" component="span">
                  {reason === 'changed' && at
                    ? t('import.undo.changedBy', {
                        actor: actorText(actor as ActorNames, t),
                        time: formatTime(at),
                      })
                    : t(`import.undo.reasons.${reason}`)}
                </Text>
              </li>
            );
          },
        )}
      </ul>
      <MoreButton list={kept} />
    </>
  );
}
