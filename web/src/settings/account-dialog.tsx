// Changes the account of a person.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { FormDialog } from '../dialogs/form-dialog.tsx';
import { tell } from '../frame/notices.tsx';
import { type AccountChoices, AccountFields, type Person } from './account-fields.tsx';

export function AccountDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { id, name, role, employeeId } = person;
  const [choices, setChoices] = useState<AccountChoices>({ role, employeeId });
  const change = useMutation({
    mutationFn: () => {
      const changed = Object.entries(choices).filter(([field, value]) => person[field as 'role'] !== value);
      return call('PATCH', `/people/${id}`, { body: Object.fromEntries(changed) });
    },
    onSuccess: async () => {
      tell(
        choices.role === role
          ? t('people.changed', { name })
          : t('people.roleChanged', { name, role: t(`roles.${choices.role}`) }),
      );
      onClose();
      for (const key of ['people', ...(person.isSelf ? ['session', 'profile'] : [])])
        await client.invalidateQueries({ queryKey: [key] });
    },
  });
  return (
    <FormDialog
      title={t('people.changeTitle', { name })}
      action={t('actions.save')}
      isPending={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <AccountFields choices={choices} onChange={setChoices} />
    </FormDialog>
  );
}
