// The dropdown of the saved views, and the dialog that saves one.
import { Menu, Switch, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { useMayEdit } from '../api/session.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { tell, tellFailure } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { type SavedView, viewsQuery } from './views.ts';

interface ViewItemsProps {
  target: ReactElement;
  views: readonly SavedView[];
  current: SavedView | undefined;
  shown: Pick<SavedView, 'resource' | 'search' | 'columns'>;
  onChoose: (view: SavedView) => void;
}

export function ViewItems({ target, views, current, shown, onChoose }: ViewItemsProps) {
  const { t } = useTranslation();
  const [isNaming, setIsNaming] = useState(false);
  const client = useQueryClient();
  const mayEdit = useMayEdit();
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
      <Menu defaultOpened position="bottom-end" shadow="md" width={280}>
        <Menu.Target>{target}</Menu.Target>
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
          {current && (mayEdit || !current.isShared) && (
            <Menu.Item leftSection={<Icon name="trash" size={14} />} onClick={() => removal.mutate(current)}>
              {t('views.delete', { name: current.name })}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isNaming && (
        <SaveDialog view={shown} known={views} maySaveShared={mayEdit} onClose={() => setIsNaming(false)} />
      )}
    </>
  );
}

interface SaveDialogProps {
  view: Pick<SavedView, 'resource' | 'search' | 'columns'>;
  known: readonly SavedView[];
  maySaveShared: boolean;
  onClose: () => void;
}

/** A name that is taken means that view, which is saved again. */
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
    <FormDialog
      title={t('views.save')}
      action={t('actions.save')}
      isDisabled={name.trim() === ''}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => saving.mutate()}
      onClose={onClose}
    >
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
    </FormDialog>
  );
}
