// Short messages at the edge of the screen ("Saved"), which go by themselves and are read out.
import { Button, Group, Notification, Stack } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { Icon } from '../icons.tsx';
import classes from './notices.module.css';

/** An action in a notice, such as undo. */
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
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  const [isHeld, setIsHeld] = useState(false);
  const place = useRoomBelow();
  return (
    <Stack
      ref={place}
      className={`${classes.place} screen-only`}
      gap="xs"
      role="status"
      aria-live="polite"
      onMouseEnter={() => setIsHeld(true)}
      onMouseLeave={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)}
      onBlur={() => setIsHeld(false)}
    >
      {shown.map((notice) => (
        // A notice that goes while the pointer is on it never tells that the pointer has left.
        <NoticeBox key={notice.id} notice={notice} isHeld={isHeld} onGone={() => setIsHeld(false)} />
      ))}
    </Stack>
  );
}

/** The page keeps room for the notices at its end: they cover nothing for good. */
function useRoomBelow() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(([entry]) => {
      const height = entry!.borderBoxSize[0]!.blockSize;
      if (height > 0) style.setProperty('--stamm-notices', `${height + 16}px`);
      else style.removeProperty('--stamm-notices');
    });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  return place;
}

interface NoticeBoxProps {
  notice: Notice;
  /** Somebody reads it, or is about to click. */
  isHeld: boolean;
  onGone: () => void;
}

function NoticeBox({ notice: { id, message, isFailure, action }, isHeld, onGone }: NoticeBoxProps) {
  const { t } = useTranslation();
  const shownMs = isFailure || action ? 10_000 : 4000;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), shownMs);
    return () => clearTimeout(timer);
  }, [id, isHeld, shownMs]);
  const close = () => {
    dismiss(id);
    onGone();
  };
  return (
    <Notification
      className={classes.notice}
      style={{ '--shown': `${shownMs}ms` }}
      data-held={isHeld || undefined}
      withBorder
      color={isFailure ? 'red' : 'leaf'}
      icon={<Icon name={isFailure ? 'warning' : 'check'} />}
      onClose={close}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      <Group justify="space-between" gap="xs">
        <span>{message}</span>
        {action && <ActionButton action={action} onDone={close} />}
      </Group>
    </Notification>
  );
}

function ActionButton({ action, onDone }: { action: NoticeAction; onDone: () => void }) {
  const { t } = useTranslation();
  const [isRunning, setIsRunning] = useState(false);
  async function run() {
    if (isRunning) return;
    setIsRunning(true);
    await action.run().catch(tellFailure);
    onDone();
  }
  // Only one notice has an action. In a field, the key belongs to what was typed.
  useHotkeys([['mod+Z', () => void run()]]);
  return (
    <Button
      size="compact-sm"
      variant="light"
      loading={isRunning}
      aria-keyshortcuts="Control+Z"
      title={t('undo.key')}
      onClick={run}
    >
      {action.label}
    </Button>
  );
}
