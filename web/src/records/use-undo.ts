// Notices that offer to take back what they tell of.
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { type Restoration, restore } from '../api/bin.ts';
import { call } from '../api/client.ts';
import { type Definition, type Entity, labelOf } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { tell } from '../frame/notices.tsx';
import { patchBack } from './earlier-state.ts';

export function useUndo() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forgetReadings = useForgetReadings();

  const open = useCallback(
    ({ collection }: Definition, id: string) =>
      navigate({ to: '/data/$collection/$id', params: { collection, id } }),
    [navigate],
  );

  const undo = useCallback(
    (work: () => Promise<unknown>) => ({
      label: t('undo.undo'),
      run: async () => {
        await work();
        await forgetReadings();
        tell(t('undo.done'));
      },
    }),
    [forgetReadings, t],
  );

  const remove = useCallback(
    async ({ collection }: Definition, id: string, version: number, isCascade = false) => {
      await call('DELETE', `/${collection}/${id}${isCascade ? '?cascade=true' : ''}`, { version });
      if (window.location.pathname.startsWith(`/data/${collection}/${id}`))
        await navigate({ to: '/data/$collection', params: { collection } });
    },
    [navigate],
  );

  return {
    /** `after` is what the service answered to the change of `before`. */
    tellSaved(definition: Definition, before: Entity, after: Entity): void {
      if (after.version === before.version) {
        tell(t('form.saved'));
        return;
      }
      const name = labelOf(definition, after);
      const body = patchBack(definition, before, after);
      const path = `/${definition.collection}/${after.id}`;
      tell(
        t('undo.saved', { name }),
        undo(() => call('PATCH', path, { body, version: after.version })),
      );
    },
    tellCreated(definition: Definition, id: string, text = t('form.created')): void {
      tell(
        text,
        undo(() => remove(definition, id, 1)),
      );
    },
    tellDeleted(name: string, definition: Definition, id: string): void {
      tell(
        t('deletion.done', { name }),
        undo(async () => {
          await restore(definition, id);
          await open(definition, id);
        }),
      );
    },
    tellRestored(definition: Definition, { id, version, restored }: Restoration): void {
      const isCascade = restored.length > 1;
      tell(
        t('bin.restored'),
        undo(() => remove(definition, id, version, isCascade)),
      );
    },
  };
}
