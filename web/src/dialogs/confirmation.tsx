// A question before something that cannot be taken back.
import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { FormDialog } from './form-dialog.tsx';

interface ConfirmationProps {
  title: string;
  text: string;
  action: string;
  isDangerous?: boolean;
  /** Closes by itself when it is done. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

export function Confirmation({ text, isDangerous = true, onConfirm, ...dialog }: ConfirmationProps) {
  const work = useMutation({ mutationFn: onConfirm, onSuccess: dialog.onClose });
  return (
    <FormDialog
      {...dialog}
      isDangerous={isDangerous}
      isPending={work.isPending}
      error={work.error}
      onSubmit={() => work.mutate()}
    >
      <Text size="sm">{text}</Text>
    </FormDialog>
  );
}
