import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { tell } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { ResetLinkDialog } from './reset-link.tsx';

interface PersonActionsProps {
  person: { id: string; name: string };
  onRemove: () => void;
}

/** Actions of Verwaltung on a colleague's account. */
export function PersonActions({ person, onRemove }: PersonActionsProps) {
  const { t } = useTranslation();
  const [dialog, setDialog] = useState<'reset' | 'signOut'>();
  const { id, name } = person;
  const close = () => setDialog(undefined);
  return (
    <>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('access.actionsFor', { name })}>
            <Icon name="dots" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="key" size={16} />} onClick={() => setDialog('reset')}>
            {t('access.resetLink')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="signOut" size={16} />} onClick={() => setDialog('signOut')}>
            {t('access.everywhere')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="trash" size={16} />} onClick={onRemove}>
            {t('people.remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'reset' && <ResetLinkDialog person={person} onClose={close} />}
      {dialog === 'signOut' && (
        <Confirmation
          title={t('access.everywhereOtherTitle', { name })}
          text={t('access.everywhereOtherText', { name })}
          action={t('access.everywhereOther')}
          onClose={close}
          onConfirm={async () => {
            await call('DELETE', `/people/${id}/sessions`);
            tell(t('access.everywhereOtherDone', { name }));
          }}
        />
      )}
    </>
  );
}
