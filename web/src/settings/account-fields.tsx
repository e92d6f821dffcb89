// Account settings for Verwaltung: its role, and its employee.
import { Radio, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Role, roles } from '../api/session.ts';
import { ReferencePicker } from '../forms/reference-picker.tsx';

export interface Person {
  id: string;
  name: string;
  email: string;
  role: Role;
  employeeId: string | null;
  lastSignInAt: string | null;
  isSelf: boolean;
}

export interface AccountChoices {
  role: Role;
  employeeId: string | null;
}

interface AccountFieldsProps {
  choices: AccountChoices;
  onChange: (choices: AccountChoices) => void;
}

export function AccountFields({ choices, onChange }: AccountFieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <Radio.Group
        label={t('people.role')}
        value={choices.role}
        onChange={(role) => onChange({ ...choices, role: role as Role })}
      >
        <Stack gap="xs" mt={6}>
          {roles.toReversed().map((role) => (
            <Radio key={role} value={role} label={t(`roles.${role}`)} description={t(`roleHints.${role}`)} />
          ))}
        </Stack>
      </Radio.Group>
      <ReferencePicker
        resources={['employee']}
        label={t('people.employee')}
        description={t('people.employeeText')}
        value={choices.employeeId ?? undefined}
        onChange={(id) => onChange({ ...choices, employeeId: id ?? null })}
      />
    </>
  );
}
