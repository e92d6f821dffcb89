// The dropdown of a table's columns.
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Popover,
  ScrollArea,
  SegmentedControl,
  Stack,
  Text,
} from '@mantine/core';
import type { ReactElement } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import { type Columns, type Density, useDensity } from './columns.ts';
import classes from './table.module.css';

export function ColumnChoice({ target, columns }: { target: ReactElement; columns: Columns }) {
  const { t } = useTranslation();
  const [density, setDensity] = useDensity();
  const hidden = columns.choosable.filter(({ id }) => !columns.shown.some((column) => column.id === id));
  return (
    <Popover defaultOpened position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={t('table.columns')}>
        <SegmentedControl
          size="xs"
          fullWidth
          mb="sm"
          aria-label={t('table.density')}
          value={density}
          data={[
            { value: 'normal', label: t('table.densities.normal') },
            { value: 'compact', label: t('table.densities.compact') },
          ]}
          onChange={(next) => setDensity(next as Density)}
        />
        <ScrollArea.Autosize mah="50vh" offsetScrollbars>
          <Stack gap={6}>
            {columns.shown.map(({ id, title }, place) => (
              <Group key={id} gap={2} wrap="nowrap" className={classes.choice}>
                <Checkbox size="sm" label={title} checked onChange={() => columns.toggle(id)} />
                <MoveButton
                  label={t('table.columnEarlier', { title })}
                  icon="up"
                  isDisabled={place === 0}
                  onClick={() => columns.move(id, -1)}
                />
                <MoveButton
                  label={t('table.columnLater', { title })}
                  icon="descending"
                  isDisabled={place === columns.shown.length - 1}
                  onClick={() => columns.move(id, 1)}
                />
              </Group>
            ))}
            {hidden.length > 0 && (
              <Text size="xs" c="dimmed" mt={6}>
                {t('table.columnsMore')}
              </Text>
            )}
            {hidden.map(({ id, title }) => (
              <Checkbox
                key={id}
                size="sm"
                label={title}
                checked={false}
                onChange={() => columns.toggle(id)}
              />
            ))}
          </Stack>
        </ScrollArea.Autosize>
        <Button mt="sm" size="compact-sm" variant="subtle" onClick={columns.reset}>
          {t('table.columnsReset')}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}

interface MoveButtonProps {
  label: string;
  icon: 'up' | 'descending';
  isDisabled: boolean;
  onClick: () => void;
}

function MoveButton({ label, icon, isDisabled, onClick }: MoveButtonProps) {
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={label}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon name={icon} size={14} />
    </ActionIcon>
  );
}
