// A part of the import's page below the table, folded while nobody needs it.
import { Title } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import classes from './import.module.css';

interface SectionProps {
  title: ReactNode;
  icon: IconName;
  /** Whether somebody has to choose something here; opens it until a person folds it. */
  isNeeded: boolean;
  children: ReactNode;
}

export function Section({ title, icon, isNeeded, children }: SectionProps) {
  const [chosen, setChosen] = useState<boolean>();
  // A finished section stays open: nothing moves away under the mouse.
  const wasNeeded = useRef(isNeeded);
  wasNeeded.current ||= isNeeded;
  const isOpen = chosen ?? wasNeeded.current;
  return (
    <details className={`panel ${classes.section}`} open={isOpen}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button. */}
      <summary
        onClick={(event) => {
          event.preventDefault();
          setChosen(!isOpen);
        }}
      >
        <Icon name={icon} />
        <Title order={2} size="h4" c="var(--stamm-ink)">
          {title}
        </Title>
        <Icon name="down" size={16} />
      </summary>
      <div className={classes.sectionBody}>{children}</div>
    </details>
  );
}
