// Empty files with the right titles, to fill in with a spreadsheet program.
import { Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { columnsOf } from '../../../core/table/columns.ts';
import { byteOrderMark, toCsvLine } from '../../../core/table/csv/csv.ts';
import { type Definition, pluralOf, useDefinitions } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { currentLanguage } from '../texts/language.ts';
import { saveBlob } from './download.ts';
import classes from './import.module.css';

export function Templates() {
  const { t } = useTranslation();
  return (
    <Card title={t('import.templates')} icon="download">
      <Text size="sm" c="dimmed" mb="md">
        {t('import.templatesText')}
      </Text>
      <ul className={classes.templates}>
        {useDefinitions().map((definition) => (
          <li key={definition.name}>
            <UnstyledButton className={classes.template} onClick={() => saveTemplate(definition)}>
              <Icon name={resourceIcon(definition.name)} />
              {pluralOf(definition)}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function saveTemplate(definition: Definition): void {
  const titles = columnsOf(definition).map((column) => column.titles[currentLanguage()]);
  // A semicolon in both languages: with it numbers are read alike, and a German spreadsheet opens it in columns.
  const text = byteOrderMark + toCsvLine(titles, ';');
  saveBlob(new Blob([text], { type: 'text/csv;charset=utf-8' }), `${pluralOf(definition)}.csv`);
}
