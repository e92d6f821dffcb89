// Rows of the file beside the records that they probably repeat.
import { Badge, Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, hintOf, labelOf } from '../../api/definitions.ts';
import { AnchorLink } from '../../frame/links.tsx';
import { formatNumber } from '../../texts/format.ts';
import classes from '../import.module.css';
import { Section } from '../section.tsx';
import { choicesOf, type Duplicate, type DuplicateChoice, likelyChoice } from './duplicates.ts';

const shownRows = 25;

interface DuplicatesPanelProps {
  definition: Definition;
  duplicates: readonly Duplicate[];
  choices: ReadonlyMap<number, DuplicateChoice>;
  onChange: (choices: ReadonlyMap<number, DuplicateChoice>) => void;
}

export function DuplicatesPanel({ definition, duplicates, choices, onChange }: DuplicatesPanelProps) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(shownRows);
  const labels = {
    update: t('import.duplicates.update'),
    create: t('import.duplicates.create'),
    skip: t('import.duplicates.skip'),
  };

  function chooseAll(choice: DuplicateChoice) {
    const fitting = duplicates.filter((duplicate) => choicesOf(duplicate).includes(choice));
    onChange(new Map([...choices, ...fitting.map(({ compared }) => [compared.row, choice] as const)]));
  }

  return (
    <Section title={t('import.duplicates.title')} icon="copy" isNeeded>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('import.duplicates.text', {
            count: duplicates.length,
            formatted: formatNumber(duplicates.length),
          })}
        </Text>
        <Group gap="xs">
          <Text size="sm">{t('import.duplicates.all')}</Text>
          {(['update', 'create', 'skip'] as const).map((choice) => (
            <Button key={choice} size="xs" variant="default" onClick={() => chooseAll(choice)}>
              {labels[choice]}
            </Button>
          ))}
        </Group>
        <ul className={classes.duplicates}>
          {duplicates.slice(0, shown).map((duplicate) => {
            const { compared, reason, entity, earlierRow } = duplicate;
            return (
              <li key={compared.row}>
                <div className={classes.columnTitle}>
                  <Text size="xs" c="dimmed">
                    {t('import.duplicates.row', { row: formatNumber(compared.row) })}
                  </Text>
                  <Text size="sm" fw={550} className={classes.fileName}>
                    {[compared.firstName, compared.name].filter(Boolean).join(' ') || compared.number}
                  </Text>
                  <Text size="xs" c="dimmed" className={classes.fileName}>
                    {[compared.number, compared.zipCode, compared.email, compared.phone]
                      .filter(Boolean)
                      .join(' · ')}
                  </Text>
                </div>
                <div className={classes.columnTitle}>
                  <span>
                    <Badge size="sm" variant="light" color="yellow">
                      {t(`import.duplicates.reasons.${reason}`)}
                    </Badge>
                  </span>
                  {entity ? (
                    <>
                      <AnchorLink
                        size="sm"
                        fw={550}
                        className={classes.fileName}
                        to={`/data/${definition.collection}/${entity.id}`}
                      >
                        {labelOf(definition, entity)}
                      </AnchorLink>
                      <Text size="xs" c="dimmed" className={classes.fileName}>
                        {duplicateHint(definition, entity)}
                      </Text>
                    </>
                  ) : (
                    <Text size="sm">
                      {t('import.duplicates.row', { row: formatNumber(earlierRow ?? 0) })}
                    </Text>
                  )}
                </div>
                <Select
                  aria-label={t('import.duplicates.choice', { row: compared.row })}
                  allowDeselect={false}
                  data={choicesOf(duplicate).map((value) => ({ value, label: labels[value] }))}
                  value={choices.get(compared.row) ?? likelyChoice(duplicate)}
                  onChange={(choice) =>
                    onChange(new Map([...choices, [compared.row, choice as DuplicateChoice]]))
                  }
                />
              </li>
            );
          })}
        </ul>
        {duplicates.length > shown && (
          <Button variant="default" onClick={() => setShown(shown + shownRows)}>
            {t('actions.more')}
          </Button>
        )}
      </Stack>
    </Section>
  );
}

function duplicateHint(definition: Definition, entity: Entity): string {
  const hint = hintOf(definition, entity);
  const own = [entity.email, entity.phone].filter((value) => value && !hint.includes(String(value)));
  return [hint, ...own].filter(Boolean).join(' · ');
}
