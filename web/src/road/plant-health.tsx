// The plants of a site by room, each with its health: one tap per plant, and one for all others.
import { Badge, Button, Group, Text, Textarea, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entity, labelOf, useDefinition } from '../api/definitions.ts';
import { AnchorLink } from '../frame/links.tsx';
import { tell } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { groupByRoom } from '../paper/rooms.ts';
import { type HealthChange, withChange } from './changes.ts';
import classes from './road.module.css';
import { useChangeHealth, useChanges } from './use-changes.ts';

const choices = ['HEALTHY', 'NEEDS_ATTENTION', 'CRITICAL'] as const;

export function PlantHealth({ plants }: { plants: readonly Entity[] }) {
  const { t } = useTranslation();
  const changes = useChanges();
  const changeHealth = useChangeHealth();
  const shown = plants.map((plant) => withChange(plant, changes));
  const rooms = groupByRoom(shown);
  /** Nobody has said anything about their health. */
  const open = shown.filter(({ status }) => status === undefined || status === null);
  const setOthersHealthy = async () => {
    await changeHealth(
      open.map(({ id }) => plants.find((plant) => plant.id === id)!),
      { status: 'HEALTHY' },
    );
    tell(t('health.restDone', { count: open.length }));
  };
  return (
    <>
      {rooms.map(({ place, plants: inRoom }) => (
        <section key={place} className={classes.room} aria-label={place || t('roadSite.noPlace')}>
          <h3>{place || t('roadSite.noPlace')}</h3>
          <ul className={classes.plants}>
            {inRoom.map((plant) => (
              <PlantRow
                key={plant.id}
                plant={plant}
                stored={plants.find(({ id }) => id === plant.id)!}
                change={changes.find(({ plantId }) => plantId === plant.id)}
              />
            ))}
          </ul>
        </section>
      ))}
      {open.length > 1 && (
        <Button fullWidth mt="md" size="md" variant="light" onClick={() => void setOthersHealthy()}>
          {t('health.rest', { count: open.length })}
        </Button>
      )}
    </>
  );
}

interface PlantRowProps {
  /** The plant with its waiting change. */
  plant: Entity;
  stored: Entity;
  change: HealthChange | undefined;
}

export function PlantRow({ plant, stored, change }: PlantRowProps) {
  const { t } = useTranslation();
  const definition = useDefinition('plants')!;
  const changeHealth = useChangeHealth();
  const [isWriting, setIsWriting] = useState(false);
  const name = labelOf(definition, plant);
  const comment = typeof plant.comment === 'string' ? plant.comment : '';
  const quantity = Number(plant.quantity) > 1 ? `${String(plant.quantity)} × ` : '';
  const hint = [plant.commonName, plant.position, plant.labelCode].filter(Boolean).join(' · ');
  return (
    <li>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <div className={classes.words}>
          <Text fw={550} component="span">
            {quantity}
            <AnchorLink inherit to={`/data/plants/${plant.id}`}>
              {name}
            </AnchorLink>
          </Text>
          {hint && (
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          )}
        </div>
        {change && (
          <Badge color={change.state === 'waiting' ? 'yellow' : 'red'}>{t(`health.${change.state}`)}</Badge>
        )}
      </Group>
      {comment && !isWriting && <Text size="sm">{comment}</Text>}
      <fieldset className={classes.choices} aria-label={t('health.of', { name })}>
        {choices.map((choice) => (
          <UnstyledButton
            key={choice}
            className={classes.choice}
            data-choice={choice}
            aria-pressed={plant.status === choice}
            onClick={() => void changeHealth([stored], { status: choice })}
          >
            {t(`health.choices.${choice}`)}
          </UnstyledButton>
        ))}
        <UnstyledButton
          className={classes.choice}
          aria-label={t('health.noteOf', { name })}
          aria-expanded={isWriting}
          onClick={() => setIsWriting(!isWriting)}
        >
          <Icon name="pencil" />
        </UnstyledButton>
      </fieldset>
      {isWriting && (
        <Note
          text={comment}
          name={name}
          onSave={(text) => {
            setIsWriting(false);
            if (text !== comment) void changeHealth([stored], { comment: text || null });
          }}
        />
      )}
    </li>
  );
}

const maxNoteLength = 150;

function Note({ text, name, onSave }: { text: string; name: string; onSave: (text: string) => void }) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSave(typed.trim());
      }}
    >
      <Textarea
        mt="xs"
        autosize
        data-autofocus
        aria-label={t('health.noteOf', { name })}
        maxLength={maxNoteLength}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Button type="submit" mt="xs" variant="light">
        {t('actions.save')}
      </Button>
    </form>
  );
}
