import { Alert, Loader, Text } from '@mantine/core';
import { type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import classes from './import.module.css';
import type { ReadingError } from './reader.ts';

interface FileDropProps {
  /** Names the file to drop. Without a title, any file fits, and so do cells from the clipboard. */
  title?: string;
  isReading: boolean;
  errorCode: ReadingError['code'] | undefined;
  onFile: (file: File) => void;
}

/** A place to drop a file on, which is also the label of an ordinary input for files. */
export function FileDrop({ title, isReading, errorCode, onFile }: FileDropProps) {
  const { t } = useTranslation();
  const [isOver, setIsOver] = useState(false);

  function drop(event: DragEvent) {
    event.preventDefault();
    setIsOver(false);
    const [file] = event.dataTransfer.files;
    if (file && !isReading) onFile(file);
  }

  return (
    <section aria-label={t('import.choose')}>
      <label
        className={classes.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
      >
        <input
          type="file"
          className={classes.fileInput}
          accept=".xlsx,.csv,.tsv,.txt,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,text/csv,text/tab-separated-values,text/plain"
          disabled={isReading}
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            if (file) onFile(file);
            // The same file may be chosen again after it was corrected.
            currentTarget.value = '';
          }}
        />
        <span className={classes.dropIcon}>
          {isReading ? <Loader size="sm" /> : <Icon name="import" size={28} />}
        </span>
        <Text fw={600} fz="lg" component="span">
          {isReading ? t('import.reading') : (title ?? t('import.drop'))}
        </Text>
        <Text c="dimmed" size="sm" component="span">
          {t('import.dropHint')} {title === undefined && t('import.pasteHint')}
        </Text>
        <span className={classes.dropButton} aria-hidden="true">
          {t('import.choose')}
        </span>
      </label>
      {errorCode && (
        <Alert
          color="red"
          variant="light"
          icon={<Icon name="warning" />}
          role="alert"
          mt="md"
          title={t('failure.title')}
        >
          {t(`import.fileErrors.${errorCode}`)}
        </Alert>
      )}
    </section>
  );
}
