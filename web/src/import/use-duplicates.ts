// The search for probable duplicates, which precedes each run over the file.
import { useState } from 'react';
import type { LinePlan } from '../../../core/import-lines.ts';
import { type Duplicate, findDuplicates } from './duplicates.ts';
import type { Reader } from './reader.ts';

export function useDuplicates(reader: Reader) {
  const [found, setFound] = useState<readonly Duplicate[]>();
  const [isForDryRun, setIsForDryRun] = useState(false);
  const [isSearching, setIsSearching] = useState(false);
  const [error, setError] = useState<unknown>();

  /** Answers whether the run has to wait: for a person's choices, or because the search failed. */
  async function search(plan: LinePlan, isDryRun: boolean): Promise<boolean> {
    setIsSearching(true);
    setError(undefined);
    try {
      const duplicates = await findDuplicates(plan.type, await reader.compare(plan));
      if (duplicates.length === 0) return false;
      setIsForDryRun(isDryRun);
      setFound(duplicates);
      return true;
    } catch (failure) {
      setError(failure);
      return true;
    } finally {
      setIsSearching(false);
    }
  }

  return { found, isForDryRun, isSearching, error, search, forget: () => setFound(undefined) };
}
