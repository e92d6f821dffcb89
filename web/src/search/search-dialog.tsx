// One search over everything: Ctrl+K, "/" and a button in the frame open it.
import { Button, Group, Kbd, Loader, Modal, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, queryString } from '../api/client.ts';
import { type Definition, pluralOf, useDefinitions } from '../api/definitions.ts';
import { useMe } from '../api/session.ts';
import { FailureNote } from '../frame/failure.tsx';
import { toSearch } from '../frame/links.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { type Command, findCommands, useCommands } from './commands.ts';
import { describeMatches, type Matched } from './matches.ts';
import classes from './search.module.css';

interface Result {
  type: string;
  id: string;
  title: string;
  where: string;
  matched: Matched[];
}

const hasWord = (text: string) => /[\p{L}\p{N}]/u.test(text);

interface SearchDialogProps {
  /** Text that was typed before the field had the focus. */
  takeEarly: () => string;
  onDo: (work: NonNullable<Command['does']>) => void;
  onClose: () => void;
}

export function SearchDialog({ takeEarly, onDo, onClose }: SearchDialogProps) {
  const { t } = useTranslation();
  return (
    <Modal.Root opened onClose={onClose} size="lg" padding={0} yOffset="8vh">
      <Modal.Overlay />
      <Modal.Content aria-label={t('search.title')}>
        <Modal.Body>
          <SearchPanel takeEarly={takeEarly} onDo={onDo} onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function SearchPanel({ takeEarly, onDo, onClose }: SearchDialogProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const definitions = useDefinitions();
  const { recent, remember } = useRecent();
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const listId = useId();
  const [typed] = useDebouncedValue(text.trim(), 150);
  const isAsking = hasWord(typed);
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    queryKey: ['search', typed],
    enabled: isAsking,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      call<{ data: Result[] }>('GET', `/search${queryString({ q: typed.slice(0, 200) })}`, { signal }),
  });
  /** Enter was pressed before the results were there. */
  const [isWaiting, setIsWaiting] = useState(false);
  const isCurrent = typed === text.trim() && (!isAsking || (data !== undefined && !isPlaceholderData));
  const results = isAsking ? (data?.data ?? []) : recent;
  const groups = [...Map.groupBy(results, ({ type }) => type)].flatMap(([type, found]) => {
    const definition = definitions.find(({ name }) => name === type);
    return definition ? [{ definition, found }] : [];
  });
  const known = useCommands();
  // Do not use the debounced text: Enter means what stands in the field.
  const commands = text.trim() === '' ? known.ofRecord : findCommands(known.all, text);
  const found = groups.flatMap(({ found }) => found);
  const ordered: (Command | Result)[] = [...commands, ...found];

  // biome-ignore lint/correctness/useExhaustiveDependencies: other results begin at the first.
  useEffect(() => setActive(0), [text, ordered.length]);

  function open(result: Result, { collection }: Definition) {
    remember(result);
    onClose();
    navigate({ to: '/data/$collection/$id', params: { collection, id: result.id } });
  }

  function choose(entry: Command | Result) {
    if (!isCommand(entry)) {
      open(entry, definitions.find(({ name }) => name === entry.type)!);
      return;
    }
    onClose();
    if (entry.does) onDo(entry.does);
    else navigate({ to: entry.to!, search: toSearch(entry.search ?? {}) });
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the results that belong to the text.
  useEffect(() => {
    if (!isWaiting || !isCurrent) return;
    setIsWaiting(false);
    if (ordered[0]) choose(ordered[0]);
  }, [isWaiting, isCurrent]);

  function onKeyDown(event: KeyboardEvent) {
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1 };
    const wanted = moves[event.key];
    if (wanted !== undefined && ordered.length > 0) {
      event.preventDefault();
      const next = (wanted + ordered.length) % ordered.length;
      setActive(next);
      document.getElementById(optionId(listId, ordered[next]!))?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      const entry = ordered[active];
      // Results of an earlier text are not meant.
      if (entry && (isCurrent || isCommand(entry))) choose(entry);
      else setIsWaiting(!isCurrent);
    }
  }

  return (
    <>
      <TextInput
        data-autofocus
        type="search"
        size="lg"
        variant="unstyled"
        className={classes.input}
        role="combobox"
        aria-label={t('search.title')}
        aria-expanded={ordered.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={ordered[active] && optionId(listId, ordered[active])}
        placeholder={t('search.placeholder')}
        leftSection={isFetching ? <Loader size={18} /> : <Icon name="search" size={20} />}
        value={text}
        onFocus={() => setText((before) => before + takeEarly())}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setIsWaiting(false);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={classes.results}>
        {error ? (
          <FailureNote error={error} onRetry={() => refetch()} />
        ) : isAsking && data && ordered.length === 0 ? (
          <Stack align="center" gap="xs" py="xl" px="md" ta="center" style={{ textWrap: 'balance' }}>
            <Text fw={550}>{t('search.none', { text: typed })}</Text>
            <Text size="sm" c="dimmed">
              {t('search.noneText')}
            </Text>
            <Button variant="default" size="xs" onClick={() => setText('')}>
              {t('search.reset')}
            </Button>
          </Stack>
        ) : (
          ordered.length === 0 && (
            <Text size="sm" c="dimmed" p="sm">
              {t('search.hint')}
            </Text>
          )
        )}
        <div id={listId} role="listbox" aria-label={isAsking ? t('search.results') : t('search.recent')}>
          {commands.length > 0 && (
            // biome-ignore lint/a11y/useSemanticElements: a group of options is no fieldset.
            <div role="group" aria-label={t('find.actions')}>
              <div className={classes.group} aria-hidden="true">
                {t('find.actions')}
              </div>
              {commands.map((command) => (
                <CommandOption
                  key={command.id}
                  id={optionId(listId, command)}
                  command={command}
                  isActive={command === ordered[active]}
                  onEnter={() => setActive(ordered.indexOf(command))}
                  onChoose={() => choose(command)}
                />
              ))}
            </div>
          )}
          {groups.map(({ definition, found }) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of options is no fieldset.
            <div key={definition.name} role="group" aria-label={pluralOf(definition)}>
              <div className={classes.group} aria-hidden="true">
                {isAsking ? pluralOf(definition) : `${t('search.recent')}: ${pluralOf(definition)}`}
              </div>
              {found.map((result) => (
                <Option
                  key={result.id}
                  id={optionId(listId, result)}
                  definition={definition}
                  result={result}
                  isActive={result === ordered[active]}
                  onEnter={() => setActive(ordered.indexOf(result))}
                  onChoose={() => open(result, definition)}
                />
              ))}
            </div>
          ))}
        </div>
        <VisuallyHidden role="status">
          {isAsking && data && t('search.count', { count: ordered.length })}
        </VisuallyHidden>
      </div>
      <Group className={classes.keys} gap="md" visibleFrom="sm" aria-hidden="true">
        <span>
          <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> {t('search.choose')}
        </span>
        <span>
          <Kbd size="xs">↵</Kbd> {t('search.open')}
        </span>
        <span>
          <Kbd size="xs">Esc</Kbd> {t('search.close')}
        </span>
      </Group>
    </>
  );
}

function isCommand(entry: Command | Result): entry is Command {
  return 'words' in entry;
}

function optionId(listId: string, { id }: Command | Result): string {
  return `${listId}-${id.replaceAll(/\W/g, '-')}`;
}

interface CommandOptionProps {
  id: string;
  command: Command;
  isActive: boolean;
  onEnter: () => void;
  onChoose: () => void;
}

function CommandOption({ id, command, isActive, onEnter, onChoose }: CommandOptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option.
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      className={classes.option}
      onMouseMove={onEnter}
      onClick={onChoose}
    >
      <Icon name={command.icon} size={18} />
      <div className={classes.text}>
        <span className={classes.title}>{command.title}</span>
      </div>
    </div>
  );
}

interface OptionProps {
  id: string;
  definition: Definition;
  result: Result;
  isActive: boolean;
  onEnter: () => void;
  onChoose: () => void;
}

function Option({ id, definition, result, isActive, onEnter, onChoose }: OptionProps) {
  const matches = describeMatches(definition, result.matched, result.where);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option.
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      className={classes.option}
      onMouseMove={onEnter}
      onClick={onChoose}
    >
      <Icon name={resourceIcon(definition.name)} size={18} />
      <div className={classes.text}>
        <span className={classes.title}>{result.title}</span>
        <span className={classes.where}>{[result.where, ...matches].filter(Boolean).join(' · ')}</span>
      </div>
    </div>
  );
}

const mostRecent = 6;

/** Recently opened records of this tab. They end with the tab: others may use the same computer. */
function useRecent() {
  const key = `stamm-recent-${useMe().person.id}${useMe().isInTestBusiness ? '-test' : ''}`;
  const [recent] = useState<Result[]>(() => {
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? '[]');
    } catch {
      return [];
    }
  });
  const remember = (result: Result) => {
    const others = recent.filter(({ id }) => id !== result.id);
    const kept = [{ ...result, matched: [] }, ...others].slice(0, mostRecent);
    sessionStorage.setItem(key, JSON.stringify(kept));
  };
  return { recent, remember };
}
