// A dialog with a form: its fields, the failure, and the two buttons.
import { Button, Group, type ModalProps, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FailureNote } from '../frame/failure.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  title: string;
  /** The label of the button that submits. */
  action: string;
  isDangerous?: boolean;
  isDisabled?: boolean;
  isPending: boolean;
  error?: unknown;
  onSubmit: () => void;
  onClose: () => void;
  modal?: Partial<ModalProps>;
  children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { t } = useTranslation();
  const { title, action, isDangerous = false, isDisabled = false, error, onSubmit, onClose } = props;
  return (
    <Dialog onClose={onClose} title={title} {...props.modal}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          // React passes events of a dialog on to the form that opened it.
          event.stopPropagation();
          onSubmit();
        }}
      >
        <Stack>
          {props.children}
          {error ? <FailureNote error={error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} data-autofocus={isDangerous || undefined}>
              {t('actions.cancel')}
            </Button>
            <Button
              type="submit"
              color={isDangerous ? 'red.8' : undefined}
              disabled={isDisabled}
              loading={props.isPending}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
