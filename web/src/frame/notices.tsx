// Short messages at the edge of the screen ("Saved"), which go by themselves and are read out.
import { Button, Group, Notification, Stack } from '@mantine/core';
import { useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { Icon } from '../icons.tsx';
import classes from './notices.module.css';

/** What a notice offers, such as taking back what it tells of. */
export interface NoticeAction {
  label: string;
  run: () => Promise<void>;
}

interface Notice {
  id: number;
  message: string;
  isFailure: boolean;
  action: NoticeAction | undefined;
}

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

function show(message: string, isFailure: boolean, action?: NoticeAction): void {
  lastId += 1;
  const id = lastId;
  // Only the last step can be taken back: an older offer would take back something else, too.
  const others = action ? notices.filter((notice) => !notice.action) : notices;
  set([...others, { id, message, isFailure, action }].slice(-3));
  setTimeout(() => dismiss(id), isFailure || action ? 10_000 : 4000);
}

function dismiss(id: number): void {
  set(notices.filter((notice) => notice.id !== id));
}

export function tell(message: string, action?: NoticeAction): void {
  show(message, false, action);
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
    <Stack className={`${classes.place} screen-only`} gap="xs" role="status" aria-live="polite">
      {shown.map(({ id, message, isFailure, action }) => (
        <Notification
          key={id}
          withBorder
          color={isFailure ? 'red' : 'leaf'}
          icon={<Icon name={isFailure ? 'warning' : 'check'} />}
          onClose={() => dismiss(id)}
          closeButtonProps={{ 'aria-label': t('actions.close') }}
        >
          <Group justify="space-between" gap="xs">
            <span>{message}</span>
            {action && <ActionButton action={action} onDone={() => dismiss(id)} />}
          </Group>
        </Notification>
      ))}
    </Stack>
  );
}

function ActionButton({ action, onDone }: { action: NoticeAction; onDone: () => void }) {
  const [isRunning, setIsRunning] = useState(false);
  async function run() {
    setIsRunning(true);
    await action.run().catch(tellFailure);
    onDone();
  }
  return (
    <Button size="compact-sm" variant="light" loading={isRunning} onClick={run}>
      {action.label}
    </Button>
  );
}
