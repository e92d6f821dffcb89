// A dialog over any page that asks for the password.
import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

/** The library closes every open dialog on Escape, also the one behind this; it leaves elements with this mark alone. */
export const keepsEscape = { 'data-mantine-stop-propagation': 'true' };

export interface AskingProps {
  /** False if the person cancels. */
  onClose: (isDone: boolean) => void;
}

interface PasswordDialogProps extends AskingProps {
  title: string;
  text: string;
  children: ReactNode;
}

export function PasswordDialog({ title, text, onClose, children }: PasswordDialogProps) {
  return (
    <Dialog
      zIndex={400}
      onClose={() => onClose(false)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose(false);
      }}
      closeOnClickOutside={false}
      title={title}
      closeButtonProps={keepsEscape as object}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        {children}
      </Stack>
    </Dialog>
  );
}

interface PasswordFormProps extends AskingProps {
  label: string;
  error?: string | undefined;
  /** Password managers look for it beside the password. */
  email?: string | undefined;
  cancel: string;
  action: string;
  isPending: boolean;
  onSubmit: (password: string) => void;
}

export function PasswordForm(props: PasswordFormProps) {
  const { error, email } = props;
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // A dialog inside another form would send that one, too.
    event.stopPropagation();
    props.onSubmit(String(new FormData(event.currentTarget).get('password')));
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {email && <input type="email" autoComplete="username" value={email} readOnly hidden />}
        <PasswordInput
          data-autofocus
          name="password"
          label={props.label}
          autoComplete="current-password"
          error={error}
          aria-invalid={error !== undefined}
          {...keepsEscape}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => props.onClose(false)} {...keepsEscape}>
            {props.cancel}
          </Button>
          <Button type="submit" loading={props.isPending} {...keepsEscape}>
            {props.action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
