// Pickers inside offer to create what they do not find. The dialog is loaded when somebody asks for it.
import { lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PickerCreation } from './reference-picker.tsx';

const CreationDialog = lazyRouteComponent(() => import('./creation-dialog.tsx'), 'CreationDialog');

export function WithCreation({ children }: { children: ReactNode }) {
  return <PickerCreation value={CreationDialog}>{children}</PickerCreation>;
}
