// Shown instead of something that failed: in place, or instead of a page.
import { Alert, Button, Center, Code, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { Icon, type IconName } from '../icons.tsx';
import { readHolder } from '../road/phone.ts';
import { ButtonLink } from './links.tsx';

export function FailureNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTranslation();
  const { code, message, requestId } = toApiError(error);
  const isNotKept = code === 'offline' && readHolder() !== undefined;
  // Nothing went wrong, and trying again changes nothing.
  if (code === 'role_insufficient' || isNotKept) {
    return (
      <Alert color="gray" variant="light" icon={<Icon name="info" />} role="status">
        {t(isNotKept ? 'failure.notKept' : 'failure.notAllowed')}
      </Alert>
    );
  }
  return (
    <Alert color="red" variant="light" icon={<Icon name="warning" />} title={t('failure.title')} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        {requestId && <Code>{t('failure.requestId', { id: requestId })}</Code>}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t('actions.retry')}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

export function EmptyNote(props: {
  icon: IconName;
  title: string;
  text?: string;
  level?: 1 | 2;
  children?: React.ReactNode;
}) {
  return (
    <Center py={56} px="md">
      <Stack align="center" gap="xs" maw={440} ta="center" style={{ textWrap: 'balance' }}>
        <Center w={56} h={56} mb={4} bdrs={28} bg="var(--stamm-tint)" c="var(--stamm-leaf)">
          <Icon name={props.icon} size={26} />
        </Center>
        <Title order={props.level ?? 2} size="h2">
          {props.title}
        </Title>
        {props.text && <Text c="dimmed">{props.text}</Text>}
        {props.children}
      </Stack>
    </Center>
  );
}

export function PageFailure({ error, reset }: { error: unknown; reset: () => void }) {
  const { t } = useTranslation();
  return (
    <Center mih="60vh" p="md" component="main">
      <Stack maw={480} w="100%">
        <Title order={1}>{t('failure.page')}</Title>
        <FailureNote error={error} onRetry={reset} />
      </Stack>
    </Center>
  );
}

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <EmptyNote icon="leaf" level={1} title={t('notFound.title')} text={t('notFound.text')}>
      <ButtonLink to="/" variant="light" mt="sm">
        {t('actions.home')}
      </ButtonLink>
    </EmptyNote>
  );
}

export function NotAllowedPage() {
  const { t } = useTranslation();
  return (
    <EmptyNote icon="info" level={1} title={t('notAllowed.title')} text={t('notAllowed.text')}>
      <ButtonLink to="/" variant="light" mt="sm">
        {t('actions.home')}
      </ButtonLink>
    </EmptyNote>
  );
}
