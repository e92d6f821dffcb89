// Counts of the rows in each state, which add up to the rows of the file. Each count shows its rows.
import { Loader, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../texts/format.ts';
import classes from '../import.module.css';
import { type RowState, rowStates, type StateCounts } from './use-check.ts';

interface StateCountsProps {
  counts: StateCounts;
  isChecking: boolean;
  shown: RowState | undefined;
  onShow: (state: RowState | undefined) => void;
}

export function StateCountsBar({ counts, isChecking, shown, onShow }: StateCountsProps) {
  const { t } = useTranslation();
  const total = rowStates.reduce((sum, state) => sum + counts[state], 0);
  const filled = rowStates.filter((state) => counts[state] > 0 || state === 'valid' || state === 'failed');
  return (
    // biome-ignore lint/a11y/useSemanticElements: the buttons belong together without being fields of a form.
    <div className={classes.states} role="group" aria-label={t('import.states.title')}>
      <UnstyledButton
        className={classes.state}
        aria-pressed={shown === undefined}
        onClick={() => onShow(undefined)}
      >
        {t('import.states.all', { count: total, formatted: formatNumber(total) })}
      </UnstyledButton>
      {filled.map((state) => (
        <UnstyledButton
          key={state}
          className={classes.state}
          data-state={counts[state] > 0 ? state : undefined}
          aria-pressed={shown === state}
          disabled={state === 'open'}
          onClick={() => onShow(shown === state ? undefined : state)}
        >
          {t(`import.states.${state}`, { count: counts[state], formatted: formatNumber(counts[state]) })}
        </UnstyledButton>
      ))}
      {isChecking && <Loader size="xs" role="img" aria-label={t('import.checking')} />}
    </div>
  );
}
