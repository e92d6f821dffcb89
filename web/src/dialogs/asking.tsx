// Dialogs that the service's answers open over any page. They load when the first of them is needed.
import { type ComponentType, useSyncExternalStore } from 'react';
import { whenBusinessChanges, whenProofIsNeeded, whenSignInIsNeeded } from '../api/client.ts';
import { hasUnsavedWork } from '../frame/unsaved-work.ts';
import { withTexts } from '../texts/language.ts';
import type { AskingProps } from './password-dialog.tsx';

interface Open {
  Dialog: ComponentType<AskingProps>;
  onClose: (isDone: boolean) => void;
}

/** Calls that need the same answer at the same time share one dialog. */
function createAsking(load: () => Promise<ComponentType<AskingProps>>) {
  let asking: Promise<boolean> | undefined;
  let open: Open | undefined;
  const listeners = new Set<() => void>();
  const set = (next: Open | undefined) => {
    open = next;
    for (const listener of listeners) listener();
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  async function show(): Promise<boolean> {
    try {
      const Dialog = await load();
      return await new Promise<boolean>((resolve) => set({ Dialog, onClose: resolve }));
    } catch {
      // The dialog did not load: the call fails, and the typed text stays.
      return false;
    } finally {
      asking = undefined;
      set(undefined);
    }
  }

  return {
    ask: () => {
      asking ??= show();
      return asking;
    },
    useOpen: () => useSyncExternalStore(subscribe, () => open),
  };
}

const loadProof = withTexts(['access'], () => import('./proof-dialog.tsx'));
const loadSession = withTexts(['access'], () => import('./session-dialog.tsx'));

const proof = createAsking(async () => (await loadProof()).ProofDialog);
const session = createAsking(async () => (await loadSession()).SessionDialog);

whenProofIsNeeded(proof.ask);
// Typed text stays: the failure asks the person to load the page again.
whenBusinessChanges(() => {
  if (!hasUnsavedWork()) window.location.reload();
});
whenSignInIsNeeded(() => (hasUnsavedWork() ? session.ask() : undefined));

export function AskedDialogs() {
  const proving = proof.useOpen();
  const signingIn = session.useOpen();
  return (
    <>
      {proving && <proving.Dialog onClose={proving.onClose} />}
      {signingIn && <signingIn.Dialog onClose={signingIn.onClose} />}
    </>
  );
}
