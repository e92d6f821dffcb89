// Printing: light colours on paper, and whole tables instead of the visible rows.
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/** A preparing page shows everything that goes on paper, before the browser asks for it. */
let isPreparing = false;
let isOnPaper = false;
const listeners = new Set<() => void>();

function tellListeners(): void {
  for (const listener of listeners) listener();
}

const page = document.documentElement;
let screenScheme = page.dataset.mantineColorScheme;

window.addEventListener('beforeprint', () => {
  screenScheme = page.dataset.mantineColorScheme;
  page.dataset.mantineColorScheme = 'light';
  isOnPaper = true;
  tellListeners();
});

window.addEventListener('afterprint', () => {
  page.dataset.mantineColorScheme = screenScheme;
  isOnPaper = false;
  isPreparing = false;
  tellListeners();
});

/** Opens the browser's dialog once everything that the page shows on paper is loaded. */
export function usePrintPage(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    isPreparing = true;
    tellListeners();
    // Rows that were not visible before ask for the names of other records now.
    do await new Promise((resolve) => setTimeout(resolve, 50));
    while (client.isFetching() > 0);
    await document.fonts.ready;
    window.print();
  };
}

export function useIsPrinting(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isPreparing || isOnPaper,
  );
}
