// The errors of the rejected rows, and these rows as a file.
import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { columnAt, type ImportColumn } from '../../../core/table/columns.ts';
import type { LinePlan } from '../../../core/table/import-lines.ts';
import { tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber, listNumbers } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { saveBlob } from './download.ts';
import classes from './import.module.css';
import type { OpenedFile } from './reader.ts';
import { Section } from './section.tsx';
import type { RowError } from './sending.ts';
import type { CheckedRows } from './use-run.ts';

interface ErrorsProps {
  opened: OpenedFile;
  plan: LinePlan;
  known: readonly ImportColumn[];
  results: CheckedRows;
}

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export function ErrorsSection({ opened, plan, known, results }: ErrorsProps) {
  const { t } = useTranslation();
  const titleOf = (field: string) => columnAt(known, field)?.titles[currentLanguage()] ?? field;
  const failed = [...results.values()].filter(({ outcome }) => outcome === 'failed');

  async function saveReport() {
    const sentences = new Map(failed.map(({ row, errors }) => [row, sentencesOf(errors, titleOf)]));
    const bytes = await opened.reader.report(plan, sentences, currentLanguage());
    const name = t('import.reportName', { name: opened.name.replace(/\.\w+$/, '') });
    saveBlob(new Blob([bytes], { type: workbookType }), name);
  }

  return (
    <Section title={t('import.wrong')} icon="warning" isNeeded>
      <ErrorGroups failed={failed} titleOf={titleOf} />
      <div className={classes.report}>
        <Text size="sm" c="dimmed">
          {t('import.reportText')}
        </Text>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          onClick={() => saveReport().catch(tellFailure)}
        >
          {t('import.report', { formatted: formatNumber(failed.length) })}
        </Button>
      </div>
    </Section>
  );
}

function sentencesOf(errors: readonly RowError[], titleOf: (field: string) => string): string {
  return errors.map(({ field, message }) => `${field && `${titleOf(field)}: `}${message}`).join(' ');
}

const shownGroups = 20;

interface ErrorGroupsProps {
  failed: readonly { row: number; errors: readonly RowError[] }[];
  titleOf: (field: string) => string;
}

/** The same error in a thousand rows is one thing to fix. */
function ErrorGroups({ failed, titleOf }: ErrorGroupsProps) {
  const { t } = useTranslation();
  const groups = new Map<string, { error: RowError; rows: number[] }>();
  for (const { row, errors } of failed) {
    for (const error of errors) {
      const key = `${titleOf(error.field)}\n${error.message}`;
      const group = groups.get(key) ?? { error, rows: [] };
      group.rows.push(row);
      groups.set(key, group);
    }
  }
  const sorted = [...groups.entries()].sort(([, one], [, other]) => other.rows.length - one.rows.length);
  return (
    <>
      <ul className={classes.groups}>
        {sorted.slice(0, shownGroups).map(([key, { error, rows }]) => (
          <li key={key}>
            <span>
              {error.field && <strong>{titleOf(error.field)}: </strong>}
              {error.message}
            </span>
            <Text size="xs" c="dimmed" component="span" className="numbers">
              {t('import.inRows', { count: rows.length, formatted: formatNumber(rows.length) })}
              {': '}
              {listNumbers(rows)}
            </Text>
          </li>
        ))}
      </ul>
      {sorted.length > shownGroups && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('import.moreGroups', { count: sorted.length - shownGroups })}
        </Text>
      )}
    </>
  );
}
