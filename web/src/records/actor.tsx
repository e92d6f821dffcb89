// Shows who did something. People show their address, because anybody can take anybody's name; the rest has an icon.
import { Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { isTestBusinessShown } from '../api/client.ts';
import { Icon, type IconName } from '../icons.tsx';
import classes from './actor.module.css';

export type ActorType = 'PERSON' | 'KEY' | 'COMMAND_LINE' | 'STRANGER';

export interface ActorNames {
  actor: string;
  actorType: ActorType;
  actorId?: string | null;
  /** Set while the person still exists. */
  actorEmail?: string | null;
}

const icons: Record<ActorType, IconName | undefined> = {
  PERSON: undefined,
  KEY: 'key',
  COMMAND_LINE: 'code',
  STRANGER: 'warning',
};

const programs = new Map<string, 'demo' | 'testData'>([
  ['demo', 'demo'],
  ['test data', 'testData'],
]);

export function actorText({ actor, actorType, actorId }: ActorNames, t: TFunction): string {
  if (actorType === 'KEY') return t('changes.key', { key: actor.replace(/^key /, '') });
  if (actorType === 'COMMAND_LINE') return t(`changes.${programs.get(actor) ?? 'commandLine'}`);
  // The journal forgets names after a while, and keeps the id.
  return actor === 'person' && actorId ? t('actor.forgotten') : actor;
}

/** The address of a person; a mark for one who has left and for a stranger. */
export function actorHint({ actorType, actorId, actorEmail }: ActorNames, t: TFunction): string | undefined {
  if (actorType === 'STRANGER') return t('actor.stranger');
  if (actorType !== 'PERSON' || !actorId) return undefined;
  // A test business knows no addresses: its people are those of the real one.
  return actorEmail ?? (isTestBusinessShown() ? undefined : t('actor.left'));
}

export function Actor({ names }: { names: ActorNames }) {
  const { t } = useTranslation();
  const icon = icons[names.actorType];
  const hint = actorHint(names, t);
  return (
    <>
      <span className={classes.name} data-actor={names.actorType}>
        {icon && <Icon name={icon} size={14} />}
        {actorText(names, t)}
      </span>
      {hint && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {hint}
        </Text>
      )}
    </>
  );
}

/** The icon alone, inside a sentence. */
export function ActorIcon({ type }: { type: ActorType }) {
  const icon = icons[type];
  return icon ? (
    <span className={classes.mark}>
      <Icon name={icon} size={13} />
    </span>
  ) : null;
}
