// A dialog over the page. The library's part loads when the first dialog opens, or before it can be needed.
import type { ModalProps } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';

const Modal = lazyRouteComponent(() => import('./modal.ts'), 'Modal');

/** Loaded at start, for dialogs that open while the service is away. */
export function preloadDialogs(): void {
  void Modal.preload?.();
}

export function Dialog({ closeButtonProps, ...props }: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation();
  return (
    <Suspense>
      <Modal opened closeButtonProps={{ 'aria-label': t('actions.close'), ...closeButtonProps }} {...props} />
    </Suspense>
  );
}
