// Changes that wait for network, and those that need a decision: nothing is lost in silence.
import { Badge, Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { titleOf, useDefinition } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { formatAgo } from '../texts/format.ts';
import { discard, type Health, type HealthChange, healthFields, insist } from './changes.ts';
import classes from './road.module.css';
import { work } from './road.ts';
import { useChanges } from './use-changes.ts';

export function UnsentCard() {
  const { t } = useTranslation();
  const changes = useChanges();
  if (changes.length === 0) return null;
  const ordered = changes.toSorted((one, other) => place(one) - place(other));
  return (
    <Card title={t('unsent.title')} icon="refresh">
      <ul className={classes.plants}>
        {ordered.map((change) => (
          <Unsent key={change.plantId} change={change} />
        ))}
      </ul>
    </Card>
  );
}

function place({ state }: HealthChange): number {
  return state === 'waiting' ? 1 : 0;
}

function Unsent({ change }: { change: HealthChange }) {
  const { t } = useTranslation();
  const { state, theirs, message, health } = change;
  const wordsOf = useHealthWords(health);
  const settle = (done: Promise<void>) => void done.then(work).catch(tellFailure);
  return (
    <li>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text fw={550} component="span" className={classes.words}>
          <AnchorLink inherit to={`/data/sites/${change.siteId}`}>
            {change.name}
          </AnchorLink>
        </Text>
        <Badge color={state === 'waiting' ? 'yellow' : 'red'}>{t(`health.${state}`)}</Badge>
      </Group>
      <Text size="sm" c="dimmed">
        {state === 'waiting' && t('unsent.waiting')}
        {state === 'conflict' && t('unsent.conflict')}
        {state === 'rejected' && (message ? t('unsent.rejected', { message }) : t('unsent.gone'))}
      </Text>
      <dl className={classes.versions}>
        <dt>{t('unsent.mine', { at: formatAgo(new Date(change.at).toISOString()) })}</dt>
        <dd>{wordsOf(health)}</dd>
        {theirs && (
          <>
            <dt>{t('unsent.theirs', { at: formatAgo(theirs.updatedAt) })}</dt>
            <dd>{wordsOf(theirs)}</dd>
          </>
        )}
      </dl>
      {state !== 'waiting' && (
        <Group gap="xs">
          {theirs && (
            <Button size="sm" onClick={() => settle(insist(change))}>
              {t('unsent.insist')}
            </Button>
          )}
          <Button size="sm" variant="default" onClick={() => settle(discard(change))}>
            {t('unsent.discard')}
          </Button>
        </Group>
      )}
    </li>
  );
}

/** The values of the fields that the person changed. */
function useHealthWords(changed: Health): (health: Health) => string {
  const { t } = useTranslation();
  const status = useDefinition('plants')!.fields.find(({ name }) => name === 'status');
  const wordOf = (field: keyof Health, value: string | null | undefined) => {
    if (!value) return t(field === 'status' ? 'unsent.noStatus' : 'unsent.noComment');
    const choice = field === 'status' && status?.choices?.find((candidate) => candidate.value === value);
    return choice ? titleOf(choice) : value;
  };
  return (health) =>
    healthFields
      .filter((field) => changed[field] !== undefined)
      .map((field) => wordOf(field, health[field]))
      .join(' · ');
}
