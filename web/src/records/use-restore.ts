// Restores a deleted object, and says what stands in the way.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { deletedObjectQuery, restore } from '../api/bin.ts';
import { call, toApiError } from '../api/client.ts';
import {
  type Definition,
  type Entity,
  labelOf,
  nounOf,
  titleOf,
  useDefinitions,
} from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { useUndo } from './use-undo.ts';

export function useRestore(definition: Definition, id: string, onRestored?: () => void) {
  const forgetReadings = useForgetReadings();
  const explain = useRestoreObstacle();
  const { tellRestored } = useUndo();
  return useMutation({
    mutationFn: () => restore(definition, id),
    onSuccess: async (restoration) => {
      await forgetReadings();
      tellRestored(definition, restoration);
      onRestored?.();
    },
    onError: explain,
  });
}

/** Words for the two reasons why a restoration is rejected, with the names of the objects in the way. */
export interface Obstacle {
  text: string;
  /** The page to go to. */
  to: string;
}

const obstacles = new WeakMap<object, Obstacle>();

/** Known once the mutation has failed. */
export function obstacleOf(error: unknown): Obstacle | undefined {
  return typeof error === 'object' && error !== null ? obstacles.get(error) : undefined;
}

function useRestoreObstacle() {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const client = useQueryClient();
  return async (error: unknown): Promise<void> => {
    const { code, details } = toApiError(error);
    const { field, id } = details as { field: string; id: string };
    const other = definitions.find(({ name }) => name === details.resource);
    if (!other) return;
    const to = `/data/${other.collection}/${id}`;
    if (code === 'owner_deleted') {
      const owner = await client.fetchQuery(deletedObjectQuery(other, id)).catch(() => null);
      const name = owner ? labelOf(other, owner.data) : '';
      const key = owner ? 'bin.ownerFirst' : 'bin.ownerGone';
      obstacles.set(error as object, { text: t(key, { title: nounOf(other), name }), to });
    } else if (code === 'conflict') {
      const holder = await call<Entity>('GET', `/${other.collection}/${id}`).catch(() => undefined);
      const title = other.fields.find(({ name }) => name === field);
      const names = { field: title ? titleOf(title) : field, name: holder ? labelOf(other, holder) : '' };
      obstacles.set(error as object, { text: t('bin.taken', names), to });
    }
  };
}
