// The head of a page: where one is, its title, and what one can do here.
import { Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Icon } from '../icons.tsx';
import { AnchorLink } from './links.tsx';
import classes from './page-head.module.css';

interface PageHeadProps {
  title: string;
  text?: ReactNode;
  /** The way here, the outermost first. */
  trail?: { title: string; to: string }[];
  /** Beside the title. */
  badge?: ReactNode;
  actions?: ReactNode;
}

export function PageHead({ title, text, trail = [], badge, actions }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Stamm`;
  }, [title]);
  return (
    <header className={classes.head}>
      {trail.length > 0 && (
        <Breadcrumbs
          separator={<Icon name="right" size={14} />}
          separatorMargin={4}
          className={classes.trail}
        >
          {trail.map(({ title: step, to }) => (
            <AnchorLink key={to} to={to} size="sm" c="dimmed">
              {step}
            </AnchorLink>
          ))}
        </Breadcrumbs>
      )}
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={4} className={classes.words}>
          <Group gap="sm">
            <Title order={1} className={classes.title}>
              {title}
            </Title>
            {badge}
          </Group>
          {text && (
            <Text c="dimmed" size="sm" component="div" maw={680}>
              {text}
            </Text>
          )}
        </Stack>
        {actions && (
          <Group gap="xs" align="flex-end" className={classes.actions}>
            {actions}
          </Group>
        )}
      </Group>
    </header>
  );
}
