// A menu that loads on the first click of its button. The pointer or the focus starts the loading.
import { cloneElement, type ReactElement, type ReactNode, Suspense, useState } from 'react';

interface OnDemandProps {
  /** Stands alone until the menu has loaded, and is its target afterwards. */
  button: ReactElement<object>;
  preload: () => unknown;
  /** Opens when it is mounted. */
  children: (target: ReactElement<object>) => ReactNode;
}

export function OnDemand({ button, preload, children }: OnDemandProps) {
  const [isWanted, setIsWanted] = useState(false);
  if (!isWanted) {
    return cloneElement(button, {
      'aria-haspopup': true,
      'aria-expanded': false,
      onPointerEnter: preload,
      onFocus: preload,
      onClick: () => setIsWanted(true),
    } as object);
  }
  return (
    <Suspense fallback={cloneElement(button, { 'aria-busy': true } as object)}>
      {/* The focus returns to the target when the menu closes. */}
      {children(cloneElement(button, { autoFocus: true } as object))}
    </Suspense>
  );
}
