// Import of a file: dropped, understood, checked, sent.
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useIsAdministrator } from '../api/session.ts';
import { EmptyNote } from '../frame/failure.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { FileDrop } from './file-drop.tsx';
import classes from './import.module.css';
import { Preparation } from './preparation.tsx';
import { type OpenedFile, openReader, ReadingError } from './reader.ts';
import { Templates } from './templates.tsx';

export function ImportPage() {
  const { t } = useTranslation();
  const isAdministrator = useIsAdministrator();
  const [opened, setOpened] = useState<OpenedFile>();
  const [isReading, setIsReading] = useState(false);
  const [errorCode, setErrorCode] = useState<ReadingError['code']>();

  useEffect(() => () => opened?.reader.close(), [opened]);

  async function open(file: File) {
    setErrorCode(undefined);
    setIsReading(true);
    const reader = openReader();
    try {
      const csv = await reader.open(file);
      setOpened({ name: file.name, size: file.size, csv, reader });
    } catch (error) {
      reader.close();
      setErrorCode(error instanceof ReadingError ? error.code : 'unreadable');
    } finally {
      setIsReading(false);
    }
  }

  if (!isAdministrator) return <EmptyNote icon="import" level={1} title={t('import.adminOnly')} />;
  return (
    <div className={classes.page}>
      <PageHead title={t('import.title')} text={t('import.text')} />
      {opened ? (
        <Preparation key={opened.name} opened={opened} onClose={() => setOpened(undefined)} />
      ) : (
        <div className={classes.start}>
          <FileDrop isReading={isReading} errorCode={errorCode} onFile={open} />
          <Templates />
        </div>
      )}
    </div>
  );
}
