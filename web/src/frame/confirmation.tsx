// A question before something that cannot be taken back.
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { FailureNote } from './failure.tsx';

interface ConfirmationProps {
  title: string;
  text: string;
  action: string;
  isDangerous?: boolean;
  /** Closes by itself when it is done. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

export function Confirmation({
  title,
  text,
  action,
  isDangerous = true,
  onConfirm,
  onClose,
}: ConfirmationProps) {
  const { t } = useTranslation();
  const work = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('actions.close') }}>
      <Stack>
        <Text size="sm">{text}</Text>
        {work.error && <FailureNote error={work.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('actions.cancel')}
          </Button>
          <Button
            color={isDangerous ? 'red.8' : undefined}
            loading={work.isPending}
            onClick={() => work.mutate()}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
