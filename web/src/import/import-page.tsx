// Import of a file: dropped, understood, checked, sent.
import { Stack } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ThousandsMark } from '../../../core/table/cells.ts';
import { allTitles } from '../../../core/table/columns.ts';
import type { TableFile } from '../../../core/table/table-file.ts';
import { useDefinitions } from '../api/definitions.ts';
import { useMayEdit } from '../api/session.ts';
import { NotAllowedPage } from '../frame/failure.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { currentLanguage } from '../texts/language.ts';
import { FileDrop } from './file-drop.tsx';
import { takeHanded } from './handed-file.ts';
import classes from './import.module.css';
import { Preparation } from './preparation.tsx';
import { type OpenedFile, openReader, type Reader, ReadingError } from './reader.ts';
import { Templates } from './templates.tsx';

export function ImportPage() {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const definitions = useDefinitions();
  const [opened, setOpened] = useState<OpenedFile>();
  const [isReading, setIsReading] = useState(false);
  const [errorCode, setErrorCode] = useState<ReadingError['code']>();

  const reader = opened?.reader;
  useEffect(() => () => reader?.close(), [reader]);

  async function open(file: File, pastedMark?: ThousandsMark) {
    setErrorCode(undefined);
    setIsReading(true);
    const reader = openReader();
    try {
      const table = await reader.open(file, allTitles(definitions), pastedMark);
      setOpened({ name: file.name, size: file.size, table, reader });
    } catch (error) {
      reader.close();
      setErrorCode(error instanceof ReadingError ? error.code : 'unreadable');
    } finally {
      setIsReading(false);
    }
  }

  const first = useRef(open);
  useEffect(() => {
    const file = takeHanded();
    if (file) void first.current(file);
  }, []);

  async function choose(table: (reader: Reader) => Promise<TableFile>) {
    if (!opened) return;
    try {
      setOpened({ ...opened, table: await table(opened.reader) });
    } catch (error) {
      tellFailure(error);
    }
  }

  usePaste(mayEdit && !opened && !isReading, (file, isText) =>
    open(file, isText ? (currentLanguage() === 'de' ? '.' : ',') : undefined),
  );

  if (!mayEdit) return <NotAllowedPage />;
  return (
    <div className={classes.page} data-open={opened ? true : undefined}>
      <PageHead title={t('import.title')} text={opened ? undefined : t('import.text')} />
      {opened ? (
        <Preparation
          key={`${opened.name} ${opened.table.sheet} ${opened.table.titleRow}`}
          opened={opened}
          onClose={() => setOpened(undefined)}
          onSheet={(name) => choose((reader) => reader.chooseSheet(name))}
          onTitleRow={(row) => choose((reader) => reader.chooseTitleRow(row))}
        />
      ) : (
        <Stack gap="lg">
          <div className={classes.start}>
            <FileDrop isReading={isReading} errorCode={errorCode} onFile={open} />
            <Templates />
          </div>
        </Stack>
      )}
    </div>
  );
}

/** Cells or a file from the clipboard. Text for an input stays there. */
function usePaste(isActive: boolean, onPaste: (file: File, isText: boolean) => void): void {
  const { t } = useTranslation();
  const listener = useRef(onPaste);
  listener.current = onPaste;
  useEffect(() => {
    if (!isActive) return;
    function paste(event: ClipboardEvent) {
      if (event.target instanceof Element && event.target.closest('input, textarea, [contenteditable]'))
        return;
      const [file] = event.clipboardData?.files ?? [];
      const text = event.clipboardData?.getData('text/plain') ?? '';
      // A spreadsheet offers a picture of the cells beside their text.
      if (text.trim() !== '') listener.current(new File([text], t('import.pasted')), true);
      else if (file) listener.current(file, false);
    }
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, [isActive, t]);
}
