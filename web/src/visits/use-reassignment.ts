// Gives the visits of a site to another employee, and offers to take it back.
import { useCallback } from 'react';
import { call } from '../api/client.ts';
import { type Entity, useDefinition } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { tellFailure } from '../frame/notices.tsx';
import { useUndo } from '../records/use-undo.ts';

export function useReassignment() {
  const definition = useDefinition('sites');
  const forgetReadings = useForgetReadings();
  const { tellSaved } = useUndo();
  return useCallback(
    async (siteId: string, employeeId: string | undefined) => {
      if (!definition) return;
      try {
        const path = `/sites/${siteId}`;
        const before = await call<Entity>('GET', path);
        if (before.assignedEmployeeId === employeeId) return;
        const body = { assignedEmployeeId: employeeId ?? null };
        const after = await call<Entity>('PATCH', path, { body, version: before.version });
        await forgetReadings();
        tellSaved(definition, before, after);
      } catch (error) {
        tellFailure(error);
      }
    },
    [definition, forgetReadings, tellSaved],
  );
}
