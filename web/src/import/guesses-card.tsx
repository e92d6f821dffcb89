// Shows what the import reads differently than written. One click takes a guess back.
import { Button, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import i18next from 'i18next';
import { useTranslation } from 'react-i18next';
import { guessKey, showGuess } from '../../../core/table/cell-guesses.ts';
import type { ColumnGuess } from '../../../core/table/file-guesses.ts';
import type { LinePlan } from '../../../core/table/import-lines.ts';
import { formatNumber } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import classes from './import.module.css';
import type { OpenedFile } from './reader.ts';
import { Section } from './section.tsx';

interface GuessesCardProps {
  opened: OpenedFile;
  plan: LinePlan;
  /** Counts the edited cells. */
  edition: number;
  /** Titles of required yes-or-no fields that no column brings. */
  silentFlags: readonly string[];
  refused: ReadonlySet<string>;
  onRefuse: (refused: ReadonlySet<string>) => void;
}

export function GuessesCard({ opened, plan, edition, silentFlags, refused, onRefuse }: GuessesCardProps) {
  const { t } = useTranslation();
  const guesses = useGuesses(opened, plan, edition);
  if (!guesses || guesses.length + silentFlags.length === 0) return null;
  return (
    <Section title={t('import.guesses.title')} icon="info" isNeeded>
      <Text size="sm" c="dimmed" mb="sm">
        {t('import.guesses.text')}
      </Text>
      <ul className={classes.guesses}>
        {guesses.map((guess) => {
          const key = guessKey(guess.kind, guess.path);
          const isRefused = refused.has(key);
          const text = describe(guess, plan, opened);
          return (
            <li key={key} data-refused={isRefused || undefined}>
              <Text size="sm" component="span">
                {text}
              </Text>
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`${t(isRefused ? 'import.guesses.apply' : 'import.guesses.undo')}: ${text}`}
                onClick={() =>
                  onRefuse(isRefused ? refused.difference(new Set([key])) : new Set([...refused, key]))
                }
              >
                {t(isRefused ? 'import.guesses.apply' : 'import.guesses.undo')}
              </Button>
            </li>
          );
        })}
        {silentFlags.length > 0 && (
          <li>
            <Text size="sm" component="span">
              {t('import.guesses.silent', { titles: silentFlags.join(', ') })}
            </Text>
          </li>
        )}
      </ul>
    </Section>
  );
}

/** Lists all guesses, including those that were taken back. */
function useGuesses(opened: OpenedFile, plan: LinePlan, edition: number): ColumnGuess[] | undefined {
  const { columns, names, rules } = plan;
  const whole: LinePlan = { ...plan, ...(rules && { rules: { ...rules, refused: new Set() } }) };
  const query = useQuery({
    queryKey: [
      ...['import guesses', opened.name, opened.table.sheet, opened.table.titleRow, opened.size, plan.type],
      columns.map((column) => column?.path ?? ''),
      [...(names ?? [])],
      edition,
    ],
    queryFn: () => opened.reader.guesses(whole),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return query.data;
}

function describe(
  { kind, path, count, examples }: ColumnGuess,
  { columns }: LinePlan,
  { table }: OpenedFile,
): string {
  const index = columns.findIndex((column) => column?.path === path);
  const column = columns[index];
  const sentence = i18next.t(`import.guesses.kinds.${kind}`, {
    count,
    formatted: formatNumber(count),
    title: table.titles[index] || column?.titles[currentLanguage()],
  });
  const shown = examples
    .filter(({ from }) => from !== '')
    .map(({ from, to }) => {
      const read = column ? showGuess(column, to, currentLanguage()) : to;
      return read === '' ? i18next.t('import.guesses.quoted', { text: from }) : `${from} → ${read}`;
    });
  return shown.length > 0
    ? i18next.t('import.guesses.such', { sentence, examples: shown.join(', ') })
    : sentence;
}
