// Deletes an object after a question that names everything that goes with it.
import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call, type Dependant, toApiError } from '../api/client.ts';
import {
  type Definition,
  type Entity,
  labelOf,
  pluralOf,
  titleOf,
  useDefinitions,
} from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { Lines } from '../frame/loading.tsx';
import { formatNumber } from '../texts/format.ts';
import { useUndo } from './use-undo.ts';

interface DeletionProps {
  definition: Definition;
  entity: Entity;
  onClose: () => void;
}

export function Deletion({ definition, entity, onClose }: DeletionProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forgetReadings = useForgetReadings();
  const { tellDeleted } = useUndo();
  const name = labelOf(definition, entity);
  const path = `/${definition.collection}/${entity.id}?cascade=true`;
  // A dry run says what would go, however deep it lies.
  const preview = useQuery({
    queryKey: ['deletion preview', definition.collection, entity.id],
    queryFn: () =>
      call<{ deleted: { resource: string; ids: string[] }[] }>('DELETE', `${path}&dryRun=true`, {
        version: entity.version,
      }),
    gcTime: 0,
    retry: false,
  });
  const deletion = useMutation({
    mutationFn: () => call('DELETE', path, { version: entity.version }),
    onSuccess: async () => {
      await navigate({ to: '/data/$collection', params: { collection: definition.collection } });
      await forgetReadings();
      tellDeleted(name, definition, entity.id);
    },
  });
  const counts = (preview.data?.deleted ?? [])
    .map(({ resource, ids }) => ({ resource, count: ids.filter((id) => id !== entity.id).length }))
    .filter(({ count }) => count > 0);
  const failure = deletion.error ?? preview.error;
  // Too many to go in one step.
  const blocking = (failure && (toApiError(failure).details.dependants as Dependant[])) || [];
  const isWhole = counts.length > 0;
  return (
    <FormDialog
      title={t(isWhole ? 'deletion.blocked' : 'deletion.title', { name })}
      action={t(isWhole ? 'deletion.all' : 'actions.delete')}
      isDangerous
      isDisabled={!preview.data}
      isPending={deletion.isPending}
      error={failure}
      onSubmit={() => deletion.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t(isWhole ? 'deletion.blockedText' : 'deletion.text')}</Text>
      {preview.isPending && <Lines count={2} />}
      <Dependants dependants={isWhole ? counts : blocking} />
    </FormDialog>
  );
}

function Dependants({ dependants }: { dependants: readonly Pick<Dependant, 'resource' | 'count'>[] }) {
  const definitions = useDefinitions();
  if (dependants.length === 0) return null;
  return (
    <Stack gap={4} component="ul" m={0} pl="md">
      {dependants.map(({ resource, count }) => {
        const other = definitions.find((one) => one.name === resource);
        return (
          other && (
            <Text key={resource} size="sm" component="li">
              {formatNumber(count)} {count === 1 ? titleOf(other) : pluralOf(other)}
            </Text>
          )
        );
      })}
    </Stack>
  );
}
