// Somebody else has saved meanwhile: shows both versions of what was changed here, and lets one choose.
import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, type Field, leavesOf, titleOf, valueAt } from '../api/definitions.ts';
import { FailureNote } from '../frame/failure.tsx';
import { decimalSeparator } from '../texts/format.ts';
import { changedPaths, toValues, type Values } from './form-values.ts';
import { Value } from './value.tsx';

interface ConflictProps {
  definition: Definition;
  name: string;
  /** As it was when the editing began. */
  before: Values;
  mine: Values;
  /** As it is stored now; undefined if it was deleted. */
  current: Entity | undefined;
  onKeepMine: () => Promise<void>;
  onTakeTheirs: () => void;
  onClose: () => void;
}

export function Conflict({ definition, name, before, mine, current, ...actions }: ConflictProps) {
  const { t } = useTranslation();
  const keeping = useMutation({ mutationFn: actions.onKeepMine });
  const theirs = current && toValues(definition, current, decimalSeparator());
  const changedByMe = new Set(changedPaths(before, mine));
  const changedByBoth = theirs ? changedPaths(before, theirs).filter((path) => changedByMe.has(path)) : [];
  const fields = leavesOf(definition.fields).filter(({ path }) => changedByBoth.includes(path));
  return (
    <Modal
      opened
      onClose={actions.onClose}
      size="lg"
      title={t('form.conflict')}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      <Stack>
        <Text size="sm">
          {!current
            ? t('form.conflictGone')
            : fields.length > 0
              ? t('form.conflictText', { name })
              : t('form.conflictNone')}
        </Text>
        {fields.length > 0 && (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th />
                <Table.Th>{t('form.theirs')}</Table.Th>
                <Table.Th>{t('form.mine')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fields.map((field) => (
                <Table.Tr key={field.path}>
                  <Table.Th>{titleOf(field)}</Table.Th>
                  <Table.Td>
                    <Value field={field} value={valueAt(current, field.path)} />
                  </Table.Td>
                  <Table.Td>
                    <Mine field={field} value={mine[field.path]} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        {keeping.error && <FailureNote error={keeping.error} />}
        {current && (
          <Group justify="flex-end">
            <Button variant="default" onClick={actions.onTakeTheirs}>
              {t('form.takeTheirs')}
            </Button>
            <Button loading={keeping.isPending} onClick={() => keeping.mutate()}>
              {t('form.keepMine')}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
}

/** As it was typed: numbers are still texts here. */
function Mine({ field, value }: { field: Field; value: unknown }) {
  return ['integer', 'decimal', 'double'].includes(field.kind) ? (
    String(value)
  ) : (
    <Value field={field} value={value} />
  );
}
