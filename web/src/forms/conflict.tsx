// Somebody else has saved meanwhile: shows both versions of what was changed here, and lets one choose.
import { Button, Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, type Field, leavesOf, titleOf, valueAt } from '../api/definitions.ts';
import { historyQuery } from '../api/records.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { actorText } from '../records/actor.tsx';
import { Value } from '../records/value.tsx';
import { decimalSeparator } from '../texts/format.ts';
import { changedPaths, toValues, type Values } from './form-values.ts';

interface ConflictProps {
  definition: Definition;
  name: string;
  /** The values at the beginning of the editing. */
  before: Values;
  mine: Values;
  /** The record as it is stored now; undefined if it was deleted. */
  current: Entity | undefined;
  /** Gets the stored object with the chosen values in it. */
  onSave: (values: Values) => Promise<void>;
  onTakeTheirs: () => void;
  onClose: () => void;
}

export function Conflict({ definition, name, before, mine, current, ...actions }: ConflictProps) {
  const { t } = useTranslation();
  const [takenPaths, setTakenPaths] = useState<readonly string[]>([]);
  const theirs = current && toValues(definition, current, decimalSeparator());
  const changedByMe = changedPaths(before, mine);
  const changedByBoth = theirs
    ? changedPaths(before, theirs).filter((path) => changedByMe.includes(path))
    : [];
  const fields = leavesOf(definition.fields).filter(({ path }) => changedByBoth.includes(path));
  const saving = useMutation({
    mutationFn: () => {
      const kept = changedByMe.filter((path) => !takenPaths.includes(path));
      return actions.onSave({ ...theirs, ...Object.fromEntries(kept.map((path) => [path, mine[path]])) });
    },
  });
  const who = useLastActor(definition, current?.id);
  return (
    <Dialog onClose={actions.onClose} size="xl" title={t('form.conflict')}>
      <Stack>
        <Text size="sm">
          {!current
            ? t('form.conflictGone')
            : t(fields.length > 0 ? 'form.conflictText' : 'form.conflictNone', { name, who })}
        </Text>
        {fields.map((field) => (
          <Radio.Group
            key={field.path}
            label={titleOf(field)}
            value={takenPaths.includes(field.path) ? 'theirs' : 'mine'}
            onChange={(choice) =>
              setTakenPaths(
                choice === 'theirs'
                  ? [...takenPaths, field.path]
                  : takenPaths.filter((path) => path !== field.path),
              )
            }
          >
            <SimpleGrid cols={{ base: 1, xs: 2 }} mt={6} spacing="xs">
              <Side value="theirs" title={t('form.theirs', { who })}>
                <Value field={field} value={valueAt(current, field.path)} owner={current} isWithoutLinks />
              </Side>
              <Side value="mine" title={t('form.mine')}>
                <Mine field={field} value={mine[field.path]} />
              </Side>
            </SimpleGrid>
          </Radio.Group>
        ))}
        {saving.error && <FailureNote error={saving.error} />}
        {current && (
          <Group justify="flex-end">
            <Button variant="default" onClick={actions.onTakeTheirs}>
              {t('form.takeTheirs')}
            </Button>
            <Button loading={saving.isPending} onClick={() => saving.mutate()}>
              {t(fields.length > 0 ? 'form.saveChoice' : 'actions.save')}
            </Button>
          </Group>
        )}
      </Stack>
    </Dialog>
  );
}

function Side({ value, title, children }: { value: string; title: string; children: ReactNode }) {
  return (
    <Radio.Card value={value} p="sm" radius="md">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator mt={2} />
        <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <Text size="xs" c="dimmed">
            {title}
          </Text>
          <Text size="sm" component="div">
            {children}
          </Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

/** The person who saved last; "somebody" while that is unknown. */
function useLastActor(definition: Definition, id: string | undefined): string {
  const { t } = useTranslation();
  const { data } = useQuery({
    ...historyQuery(definition.name, id ?? ''),
    enabled: id !== undefined,
    staleTime: 0,
  });
  const last = data?.data[0];
  return last ? actorText(last, t) : t('form.somebody');
}

/** Shows the value as it was typed: numbers are still texts here. */
function Mine({ field, value }: { field: Field; value: unknown }) {
  return ['integer', 'decimal', 'double'].includes(field.kind) ? (
    String(value)
  ) : (
    <Value field={field} value={value} isWithoutLinks />
  );
}
