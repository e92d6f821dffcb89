// Whether something on the page would be lost by leaving it.
import { useEffect } from 'react';
import { preloadDialogs } from '../dialogs/dialog.tsx';

let forms = 0;

export function hasUnsavedWork(): boolean {
  return forms > 0;
}

/** While `isUnsaved`, a session that ends asks for the password over the page instead of leaving it. */
export function useUnsavedWork(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    forms += 1;
    preloadDialogs();
    return () => {
      forms -= 1;
    };
  }, [isUnsaved]);
}
