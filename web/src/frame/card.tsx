import { Group, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import classes from './card.module.css';

interface CardProps {
  title: ReactNode;
  icon?: IconName;
  actions?: ReactNode;
  /** Id of the heading above, where cards below several headings have the same title. */
  headingId?: string;
  children: ReactNode;
}

/** A part of a page with its own heading. */
export function Card({ title, icon, actions, headingId, children }: CardProps) {
  const id = useId();
  return (
    <section className={`panel ${classes.card}`} aria-labelledby={headingId ? `${headingId} ${id}` : id}>
      <Group justify="space-between" mb="md" mih={26} gap="xs" wrap="nowrap">
        <Group gap={10} wrap="nowrap" c="var(--stamm-leaf)">
          {icon && <Icon name={icon} />}
          <Title order={2} id={id} size="h3" c="var(--stamm-ink)">
            {title}
          </Title>
        </Group>
        {actions && (
          <Group gap={4} wrap="nowrap" className={classes.actions}>
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </section>
  );
}
