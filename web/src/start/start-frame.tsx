// The frame of pages without a session: a card beside a calm picture.
import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Logo } from '../frame/logo.tsx';
import { LanguageChoice } from '../frame/preferences.tsx';
import classes from './start-frame.module.css';

interface StartFrameProps {
  title: string;
  text?: ReactNode;
  children?: ReactNode;
}

export function StartFrame({ title, text, children }: StartFrameProps) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${title} · Stamm`;
  }, [title]);
  return (
    <div className={classes.page}>
      <aside className={classes.picture} aria-hidden="true">
        <Rings />
        <Text className={classes.tagline}>{t('start.tagline')}</Text>
      </aside>
      <div className={classes.side}>
        <Group component="header" justify="space-between">
          <Logo />
          <div className={classes.language}>
            <LanguageChoice />
          </div>
        </Group>
        <main className={classes.main}>
          <Stack gap="lg">
            <Stack gap={6}>
              <Title order={1}>{title}</Title>
              {text && (
                <Text c="dimmed" size="sm" component="div">
                  {text}
                </Text>
              )}
            </Stack>
            {children}
          </Stack>
        </main>
      </div>
    </div>
  );
}

/** The rings of a trunk, which is what "Stamm" means. */
function Rings() {
  const radii = [14, 30, 44, 63, 79, 101, 118, 142, 161, 186, 206, 233, 258, 289, 316, 350];
  return (
    <svg viewBox="-360 -360 720 720" className={classes.rings} aria-hidden="true">
      {radii.map((radius, index) => (
        <ellipse
          key={radius}
          cx={index * 1.6}
          cy={index * -1.1}
          rx={radius}
          ry={radius * (0.955 + (index % 3) * 0.018)}
          transform={`rotate(${(index * 37) % 180})`}
          strokeWidth={index % 4 === 1 ? 2.6 : 1.3}
          opacity={1 - index * 0.045}
        />
      ))}
    </svg>
  );
}
