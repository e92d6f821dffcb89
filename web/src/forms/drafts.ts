// Keeps unsaved input of a form in the browser, per business, person and page.
import { useCallback, useEffect, useState } from 'react';
import { useBusinessKey, useMe } from '../api/session.ts';
import { changedPaths, type Values } from './form-values.ts';

const prefix = 'stamm-draft:';
const keptMs = 7 * 24 * 3_600_000;

export interface Draft {
  at: number;
  /** Holds only values that differed from the stored ones: the rest might have changed since. */
  values: Values;
}

/** A browser may forbid its storage, or have none left; then there are no drafts. */
function quietly<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function parseDraft(text: string | null): Draft | undefined {
  const draft = quietly(() => JSON.parse(text ?? 'null') as Draft | null);
  return draft && typeof draft.at === 'number' && typeof draft.values === 'object' && draft.values !== null
    ? draft
    : undefined;
}

/** Removes drafts that are too old, and those of one person who signs out. */
export function forgetDrafts(personId?: string, now = Date.now()): void {
  quietly(() => {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(prefix))) {
      const draft = parseDraft(localStorage.getItem(key));
      const isOld = !draft || now - draft.at > keptMs;
      if (isOld || key.split(':')[2] === personId) localStorage.removeItem(key);
    }
  });
}

export function useDraft(initial: Values, values: Values) {
  const { person } = useMe();
  const business = useBusinessKey();
  const [key] = useState(() => `${prefix}${business}:${person.id}:${window.location.pathname}`);
  const [offered, setOffered] = useState(() => {
    forgetDrafts();
    const draft = parseDraft(quietly(() => localStorage.getItem(key)) ?? null);
    const differs =
      draft && changedPaths(initial, { ...initial, ...known(initial, draft.values) }).length > 0;
    return differs ? draft : undefined;
  });
  const changed = changedPaths(initial, values);
  const text = JSON.stringify(Object.fromEntries(changed.map((path) => [path, values[path]])));
  const isChanged = changed.length > 0;
  const [isStored, setIsStored] = useState(false);

  useEffect(() => {
    if (!isChanged) return;
    const stored = quietly(() => {
      localStorage.setItem(key, `{"at":${Date.now()},"values":${text}}`);
      return true;
    });
    setIsStored(stored === true);
  }, [key, text, isChanged]);

  const drop = useCallback(() => {
    setOffered(undefined);
    quietly(() => localStorage.removeItem(key));
  }, [key]);

  return {
    offered: offered && { at: offered.at, values: known(initial, offered.values) },
    /** Whether a reload loses nothing. */
    isStored,
    drop,
    /** It is in the form now. */
    settle: () => setOffered(undefined),
  };
}

/** A form of a later version may have other fields. */
function known(initial: Values, values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([path]) => path in initial));
}
