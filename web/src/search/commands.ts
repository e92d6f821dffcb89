// Pages and actions that Ctrl+K finds beside records, in the words of both languages.
import { useLocation } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { plainLetters } from '../../../core/letters.ts';
import { type Definition, nounOf, pluralOf, useDefinitions } from '../api/definitions.ts';
import { useIsAdministrator, useMayEdit } from '../api/session.ts';
import { type IconName, resourceIcon } from '../icons.tsx';

export interface Command {
  id: string;
  title: string;
  icon: IconName;
  /** Words that people type for it, in either language. */
  words: string;
  to?: string;
  search?: Record<string, string>;
  /** Actions of the frame itself. */
  does?: 'delete' | 'shortcuts';
}

const newWords = 'neu neuer neue neues neuen anlegen erstellen hinzufügen new create add';

function dayFromNow(days: number): string {
  return fromDayNumber(toDayNumber(todayIn('Europe/Berlin')) + days);
}

/** All that the role may do, those of the open record first. */
export function useCommands(): { all: Command[]; ofRecord: Command[] } {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const mayEdit = useMayEdit();
  const isAdministrator = useIsAdministrator();
  const { pathname } = useLocation();
  const [, collection, id = ''] = /^\/data\/([\w-]+)\/([0-9a-f-]{36})/.exec(pathname) ?? [];
  const record = definitions.find((definition) => definition.collection === collection);
  const ofRecord = record ? recordCommands(record, id) : [];

  function recordCommands(definition: Definition, id: string): Command[] {
    const path = `/data/${definition.collection}/${id}`;
    const edit: Command = {
      id: 'edit',
      title: t('find.edit', { what: nounOf(definition) }),
      icon: 'pencil',
      words: 'bearbeiten ändern edit change',
      to: `${path}/edit`,
    };
    if (!mayEdit) return definition.careFields.length > 0 ? [edit] : [];
    const dependants = definitions.flatMap((other) => {
      const owner = other.fields.find(
        ({ reference }) => reference?.isOwner && reference.resources.includes(definition.name),
      );
      return owner ? [{ other, owner }] : [];
    });
    return [
      edit,
      ...dependants.map(
        ({ other, owner }): Command => ({
          id: `new ${other.name} here`,
          title: t('find.newHere', { what: nounOf(other) }),
          icon: 'plus',
          words: `${newWords} ${other.title.de} ${other.title.en}`,
          to: `/data/${other.collection}/new`,
          search: { [owner.name]: id },
        }),
      ),
      {
        id: 'copy',
        title: t('find.copy', { what: nounOf(definition) }),
        icon: 'copy',
        words: 'kopieren duplizieren copy duplicate',
        to: `/data/${definition.collection}/new`,
        search: { copyOf: id },
      },
      {
        id: 'delete',
        title: t('find.delete', { what: nounOf(definition) }),
        icon: 'trash',
        words: 'löschen entfernen delete remove',
        does: 'delete',
      },
    ];
  }

  const page = (to: string, title: string, icon: IconName, words: string): Command => ({
    id: to,
    title,
    icon,
    words,
    to,
  });
  const creations = definitions.map(
    (definition): Command => ({
      id: `new ${definition.name}`,
      title: t('find.new', { what: nounOf(definition) }),
      icon: 'plus',
      words: `${newWords} ${definition.title.de} ${definition.title.en}`,
      to: `/data/${definition.collection}/new`,
    }),
  );
  const days = [
    { title: t('find.visitsToday'), days: 0, words: 'besuche termine heute visits today' },
    { title: t('find.visitsTomorrow'), days: 1, words: 'besuche termine morgen visits tomorrow' },
  ].map(
    ({ title, days, words }): Command => ({
      id: words,
      title,
      icon: 'calendar',
      words,
      to: '/visits',
      search: { day: dayFromNow(days), view: 'day' },
    }),
  );
  const office: Command[] = [
    page('/import', t('navigation.import'), 'import', 'import einlesen datei excel csv file upload'),
    page('/bin', t('navigation.bin'), 'trash', 'papierkorb gelöscht bin deleted restore'),
  ];
  const administration: Command[] = [
    page('/requests', t('navigation.requests'), 'requests', 'api anfragen requests log'),
    page('/settings/people', t('find.people'), 'person', 'personen konten einladen people accounts invite'),
    page('/settings/api', t('find.api'), 'key', 'api schlüssel schnittstellen webhooks key'),
    page('/settings/audit', t('find.audit'), 'history', 'protokoll audit log'),
    page('/settings/backups', t('find.backups'), 'archive', 'datensicherung backup sicherung'),
  ];
  return {
    ofRecord,
    all: [
      ...ofRecord,
      ...days,
      ...(mayEdit ? creations : []),
      page('/', t('navigation.home'), 'home', 'übersicht start home overview'),
      page('/visits', t('navigation.visits'), 'calendar', 'besuche woche termine visits week'),
      page('/map', t('navigation.map'), 'map', 'karte landkarte map'),
      page('/day-sheet', t('daySheet.title'), 'printer', 'tageszettel tagesblatt drucken day sheet print'),
      ...definitions.map((definition) =>
        page(
          `/data/${definition.collection}`,
          pluralOf(definition),
          resourceIcon(definition.name),
          `liste tabelle list ${definition.plural.de} ${definition.plural.en}`,
        ),
      ),
      page('/attention', t('navigation.attention'), 'attention', 'zu prüfen aufgaben attention check'),
      ...(mayEdit ? office : []),
      ...(isAdministrator ? administration : []),
      page(
        '/settings',
        t('navigation.settings'),
        'settings',
        'einstellungen konto passwort settings password',
      ),
      {
        id: 'shortcuts',
        title: t('find.shortcuts'),
        icon: 'info',
        words: 'tastenkürzel tasten hilfe shortcuts keys help',
        does: 'shortcuts',
      },
    ],
  };
}

const fold = (text: string) => plainLetters(text.toLowerCase());

const mostShown = 5;

/** Each typed word begins one of the command's words. */
export function findCommands(commands: readonly Command[], text: string): Command[] {
  const typed = fold(text).split(/\s+/).filter(Boolean);
  if (typed.length === 0) return [];
  return commands
    .filter(({ title, words }) => {
      const known = fold(`${title} ${words}`).split(/[\s&,-]+/);
      return typed.every((word) => known.some((other) => other.startsWith(word)));
    })
    .slice(0, mostShown);
}
