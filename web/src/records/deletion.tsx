// Deletes an object after a question, or says what keeps it from being deleted.
import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
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
import { FormDialog } from '../frame/form-dialog.tsx';
import { AnchorLink } from '../frame/links.tsx';
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
  const deletion = useMutation({
    mutationFn: (isCascade: boolean) =>
      call('DELETE', `/${definition.collection}/${entity.id}${isCascade ? '?cascade=true' : ''}`, {
        version: entity.version,
      }),
    onSuccess: async () => {
      await navigate({ to: '/data/$collection', params: { collection: definition.collection } });
      await forgetReadings();
      tellDeleted(definition, entity.id);
    },
  });
  const failure = deletion.error && toApiError(deletion.error);
  const dependants = (failure?.details.dependants ?? []) as Dependant[];
  const isBlocked = dependants.length > 0;
  return (
    <FormDialog
      title={t(isBlocked ? 'deletion.blocked' : 'deletion.title', { name })}
      action={t(isBlocked ? 'deletion.all' : 'actions.delete')}
      isDangerous
      isPending={deletion.isPending}
      error={isBlocked ? undefined : failure}
      onSubmit={() => deletion.mutate(isBlocked)}
      onClose={onClose}
    >
      <Text size="sm">{t(isBlocked ? 'deletion.blockedText' : 'deletion.text')}</Text>
      {isBlocked && <Dependants definition={definition} entity={entity} dependants={dependants} />}
    </FormDialog>
  );
}

function Dependants({
  definition,
  entity,
  dependants,
}: Omit<DeletionProps, 'onClose'> & { dependants: Dependant[] }) {
  const definitions = useDefinitions();
  return (
    <Stack gap={4}>
      {dependants.map(({ resource, count }) => {
        const other = definitions.find(({ name }) => name === resource);
        const field = other?.fields.find(({ reference }) => reference?.resources.includes(definition.name));
        if (!other || !field) return null;
        return (
          <AnchorLink key={resource} to={`/data/${other.collection}`} search={{ [field.name]: entity.id }}>
            {formatNumber(count)} {count === 1 ? titleOf(other) : pluralOf(other)}
          </AnchorLink>
        );
      })}
    </Stack>
  );
}
