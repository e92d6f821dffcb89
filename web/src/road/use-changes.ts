import { useSyncExternalStore } from 'react';
import { type Entity, labelOf, useDefinition } from '../api/definitions.ts';
import { useBusinessKey } from '../api/session.ts';
import { tellFailure } from '../frame/notices.tsx';
import { changeHealth, type Health, type HealthChange, listChanges, subscribeChanges } from './changes.ts';
import { work } from './road.ts';

/** Unsent changes of the shown business. */
export function useChanges(): HealthChange[] {
  const business = useBusinessKey();
  return useSyncExternalStore(subscribeChanges, listChanges).filter((change) => change.business === business);
}

/** Stores changes and sends them as soon as there is network. */
export function useChangeHealth(): (plants: readonly Entity[], health: Health) => Promise<void> {
  const definition = useDefinition('plants')!;
  const business = useBusinessKey();
  return async (plants, health) => {
    try {
      for (const plant of plants)
        await changeHealth(plant, { name: labelOf(definition, plant), business, health });
    } catch (error) {
      tellFailure(error);
    }
    await work();
  };
}
