// Saves changes of a stored record. Where somebody else was faster, a dialog shows both versions.
import { lazyRouteComponent } from '@tanstack/react-router';
import { type ReactNode, Suspense, useState } from 'react';
import { call, toApiError } from '../api/client.ts';
import { type Definition, type Entity, labelOf } from '../api/definitions.ts';
import { useForgetReadings } from '../api/records.ts';
import { useUndo } from '../records/use-undo.ts';
import { decimalSeparator } from '../texts/format.ts';
import { toPatch, toValues, type Values } from './form-values.ts';

const Conflict = lazyRouteComponent(() => import('./conflict.tsx'), 'Conflict');

interface Editing {
  /** Changes when the person takes the stored version. */
  version: number;
  initial: Values;
  /** Rejects with the error of the service. */
  save: (values: Values) => Promise<void>;
  dialog: ReactNode;
}

export function useEditing(
  definition: Definition,
  stored: Entity,
  /** Called before the notice that offers to undo. */
  onSaved: () => Promise<void> | void,
): Editing {
  const forgetReadings = useForgetReadings();
  const { tellSaved } = useUndo();
  const [base, setBase] = useState(stored);
  const [conflict, setConflict] = useState<{ current: Entity | undefined; values: Values }>();
  const path = `/${definition.collection}/${stored.id}`;
  const initial = toValues(definition, base, decimalSeparator());

  async function save(values: Values, seen: Entity) {
    const before = toValues(definition, seen, decimalSeparator());
    const body = toPatch(definition, before, values, decimalSeparator());
    let saved: Entity;
    try {
      saved = await call<Entity>('PATCH', path, { body, version: seen.version });
    } catch (error) {
      if (toApiError(error).status !== 412) throw error;
      const current = await call<Entity>('GET', path).catch(() => undefined);
      setConflict({ current, values });
      throw error;
    }
    setConflict(undefined);
    await forgetReadings();
    await onSaved();
    tellSaved(definition, seen, saved);
  }

  return {
    version: base.version,
    initial,
    save: (values) => save(values, base),
    dialog: conflict && (
      <Suspense>
        <Conflict
          definition={definition}
          name={labelOf(definition, stored)}
          before={initial}
          mine={conflict.values}
          current={conflict.current}
          onSave={(values) => save(values, conflict.current!)}
          onTakeTheirs={() => {
            setBase(conflict.current!);
            setConflict(undefined);
          }}
          onClose={() => setConflict(undefined)}
        />
      </Suspense>
    ),
  };
}
