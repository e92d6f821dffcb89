// The files that a table can be exported as.
import { Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { useTranslation } from 'react-i18next';
import { queryString } from '../api/client.ts';
import { currentLanguage } from '../texts/language.ts';

export interface ExportMenuProps {
  collection: string;
  parameters: Record<string, string | undefined>;
  /** Ids of the shown columns. */
  shown: readonly string[];
}

export function ExportItems({
  target,
  collection,
  parameters,
  shown,
}: ExportMenuProps & { target: ReactElement }) {
  const { t } = useTranslation();
  const link = (path: string, columns?: string) =>
    `/app${path}${queryString({ ...parameters, columns, locale: currentLanguage() })}`;
  const workbook = `/${collection}.xlsx`;
  const csv = `/tables/${collection}.csv`;
  // A table without any other column still has the name.
  const chosen = shown.join(',') || 'id';
  const items = [
    { label: t('table.exports.xlsxShown'), href: link(workbook, chosen) },
    { label: t('table.exports.xlsxAll'), href: link(workbook) },
    { label: t('table.exports.csvShown'), href: link(csv, chosen) },
    { label: t('table.exports.csvAll'), href: link(csv) },
  ];
  return (
    <Menu defaultOpened position="bottom-end" shadow="md">
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown aria-label={t('table.export')}>
        {items.map(({ label, href }) => (
          <Menu.Item key={href} component="a" href={href} download>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
