// Short messages at the edge of the screen ("Saved"), which go by themselves and are read out.
import { Notification, Stack } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { Icon } from '../icons.tsx';
import classes from './notices.module.css';

interface Notice {
  id: number;
  message: string;
  isFailure: boolean;
}

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

function show(message: string, isFailure: boolean): void {
  lastId += 1;
  const id = lastId;
  set([...notices, { id, message, isFailure }].slice(-3));
  setTimeout(() => dismiss(id), isFailure ? 10_000 : 4000);
}

function dismiss(id: number): void {
  set(notices.filter((notice) => notice.id !== id));
}

export function tell(message: string): void {
  show(message, false);
}

export function tellFailure(error: unknown): void {
  show(toApiError(error).message, true);
}

export function Notices() {
  const { t } = useTranslation();
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  return (
    <Stack className={classes.place} gap="xs" role="status" aria-live="polite">
      {shown.map(({ id, message, isFailure }) => (
        <Notification
          key={id}
          withBorder
          color={isFailure ? 'red' : 'leaf'}
          icon={<Icon name={isFailure ? 'warning' : 'check'} />}
          onClose={() => dismiss(id)}
          closeButtonProps={{ 'aria-label': t('actions.close') }}
        >
          {message}
        </Notification>
      ))}
    </Stack>
  );
}
