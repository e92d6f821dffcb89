// Finds a plant or container by its label: with the camera, or by the text on it.
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { findLabel, recordPathOf } from './labels.ts';
import classes from './road.module.css';
import { watchCodes } from './scanner.ts';

export function ScanPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();

  const open = useCallback(
    async (code: string): Promise<boolean> => {
      try {
        const path = recordPathOf(code) ?? (await findLabel(code));
        if (path) await navigate({ to: path });
        else setProblem(t(/^https?:/.test(code) ? 'scan.foreign' : 'scan.none', { code }));
        return path !== undefined;
      } catch (error) {
        const { code: reason, message } = toApiError(error);
        setProblem(reason === 'offline' ? t('scan.noneAway') : message);
        return false;
      }
    },
    [navigate, t],
  );

  return (
    <div className={classes.page}>
      <PageHead title={t('scan.title')} text={t('scan.text')} />
      <Camera onCode={open} />
      <div role="status">{problem && <Text c="var(--mantine-color-error)">{problem}</Text>}</div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim()) void open(typed.trim());
        }}
      >
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            size="md"
            label={t('scan.number')}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" size="md">
            {t('scan.find')}
          </Button>
        </Group>
      </form>
    </div>
  );
}

function Camera({ onCode }: { onCode: (code: string) => Promise<boolean> }) {
  const { t } = useTranslation();
  const video = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<'starting' | 'seeing' | 'denied' | 'noCamera'>('starting');
  useEffect(() => {
    const leaving = new AbortController();
    watchCodes(video.current!, { signal: leaving.signal, onSeeing: () => setState('seeing'), onCode }).catch(
      (error: unknown) => {
        if (leaving.signal.aborted) return;
        const isDenied = error instanceof DOMException && error.name === 'NotAllowedError';
        setState(isDenied ? 'denied' : 'noCamera');
      },
    );
    return () => leaving.abort();
  }, [onCode]);
  const isMissing = state === 'denied' || state === 'noCamera';
  return (
    <div className={classes.picture} data-missing={isMissing || undefined}>
      <video
        ref={video}
        muted
        playsInline
        data-hidden={state !== 'seeing' || undefined}
        aria-label={t('scan.video')}
      />
      {state !== 'seeing' && (
        <Text size="sm" className={classes.pictureText}>
          <Icon name="qr" size={28} />
          {t(`scan.${state}`)}
        </Text>
      )}
    </div>
  );
}
