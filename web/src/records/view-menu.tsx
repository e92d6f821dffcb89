// Saved views of a table: its filters, order and columns under a name, for oneself or for everybody.
import { Button, Group, Menu, Modal, Stack, Switch, Text, TextInput } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import type { Definition } from '../api/definitions.ts';
import { useIsAdministrator } from '../api/session.ts';
import { FailureNote } from '../frame/failure.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';

export interface SavedView {
  id: string;
  resource: string;
  name: string;
  /** The query string of the page. */
  search: string;
  columns: string[];
  isShared: boolean;
}

const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => call<{ data: SavedView[] }>('GET', '/views', { signal }),
});

interface ViewMenuProps {
  definition: Definition;
  /** What the table shows now. */
  search: string;
  columns: string[];
  onChoose: (view: SavedView) => void;
}

export function ViewMenu({ definition, search, columns, onChoose }: ViewMenuProps) {
  const { t } = useTranslation();
  const [isNaming, setIsNaming] = useState(false);
  const { data } = useQuery(viewsQuery);
  const client = useQueryClient();
  const isAdministrator = useIsAdministrator();
  const views = (data?.data ?? []).filter(({ resource }) => resource === definition.name);
  const current = views.find((view) => view.search === search && sameColumns(view.columns, columns));
  const groups = [
    { title: t('views.own'), views: views.filter(({ isShared }) => !isShared) },
    { title: t('views.shared'), views: views.filter(({ isShared }) => isShared) },
  ].filter((group) => group.views.length > 0);
  const removal = useMutation({
    mutationFn: (view: SavedView) => call('DELETE', `/views/${view.id}`),
    onSuccess: (_, { name }) => tell(t('views.deleted', { name })),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries(viewsQuery),
  });
  return (
    <>
      <Menu position="bottom-end" shadow="md" width={280}>
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="bookmark" size={16} />} visibleFrom="sm">
            {current?.name ?? t('views.title')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {groups.map((group) => (
            <div key={group.title}>
              <Menu.Label>{group.title}</Menu.Label>
              {group.views.map((view) => (
                <Menu.Item
                  key={view.id}
                  aria-current={view === current || undefined}
                  rightSection={view === current && <Icon name="check" size={14} />}
                  onClick={() => onChoose(view)}
                >
                  {view.name}
                </Menu.Item>
              ))}
            </div>
          ))}
          {groups.length === 0 && (
            <Text size="sm" c="dimmed" p="xs">
              {t('views.none')}
            </Text>
          )}
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="plus" size={14} />} onClick={() => setIsNaming(true)}>
            {t('views.save')}
          </Menu.Item>
          {current && (isAdministrator || !current.isShared) && (
            <Menu.Item leftSection={<Icon name="trash" size={14} />} onClick={() => removal.mutate(current)}>
              {t('views.delete', { name: current.name })}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isNaming && (
        <SaveDialog
          view={{ resource: definition.name, search, columns }}
          known={views}
          maySaveShared={isAdministrator}
          onClose={() => setIsNaming(false)}
        />
      )}
    </>
  );
}

function sameColumns(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

interface SaveDialogProps {
  view: Pick<SavedView, 'resource' | 'search' | 'columns'>;
  known: readonly SavedView[];
  maySaveShared: boolean;
  onClose: () => void;
}

/** A name that is taken means that view: it is saved anew. */
function SaveDialog({ view, known, maySaveShared, onClose }: SaveDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [isShared, setIsShared] = useState(false);
  const taken = known.find(
    (other) => other.name.toLowerCase() === name.trim().toLowerCase() && other.isShared === isShared,
  );
  const saving = useMutation({
    mutationFn: () =>
      taken
        ? call('PATCH', `/views/${taken.id}`, { body: { search: view.search, columns: view.columns } })
        : call('POST', '/views', { body: { ...view, name, isShared } }),
    onSuccess: async () => {
      await client.invalidateQueries(viewsQuery);
      tell(t('views.saved', { name: name.trim() }));
      onClose();
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('views.save')}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Stack>
          <TextInput
            data-autofocus
            label={t('views.name')}
            description={taken && t('views.replaces')}
            maxLength={60}
            required
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {maySaveShared && (
            <Switch
              label={t('views.share')}
              checked={isShared}
              onChange={({ currentTarget }) => setIsShared(currentTarget.checked)}
            />
          )}
          {saving.error && <FailureNote error={saving.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('actions.cancel')}
            </Button>
            <Button type="submit" loading={saving.isPending} disabled={name.trim() === ''}>
              {t('actions.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
