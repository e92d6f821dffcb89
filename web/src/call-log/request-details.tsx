// One call: what was sent, what was answered, and what can be done about it.
import { Alert, Button, Drawer, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toApiError } from '../api/client.ts';
import { nounOf, useDefinitions } from '../api/definitions.ts';
import { Confirmation } from '../dialogs/confirmation.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon } from '../icons.tsx';
import { CopyField } from '../inputs/copy-field.tsx';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import { formatNumber, formatTime } from '../texts/format.ts';
import { toBodyLines } from './body-lines.ts';
import { CorrectionNote } from './correction-note.tsx';
import { StatusMark } from './request-list.tsx';
import classes from './requests.module.css';
import {
  definitionAt,
  fieldAt,
  fieldTitle,
  isCreation,
  type RequestWithBody,
  requestQuery,
} from './requests.ts';

export function RequestDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [isRevealed, setIsRevealed] = useState(false);
  const masked = useQuery({ ...requestQuery(id, false), staleTime: 0 });
  const revealed = useQuery({ ...requestQuery(id, true), enabled: isRevealed });
  const { error } = isRevealed ? revealed : masked;
  const request = (isRevealed && revealed.data) || masked.data;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={request ? `${request.method} ${request.path}` : t('requests.one')}
      classNames={{ title: classes.breakable }}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      {error && toApiError(error).status === 404 ? (
        <EmptyNote icon="requests" title={t('requests.gone')} text={t('requests.goneText')} />
      ) : (
        error && <FailureNote error={error} onRetry={() => (isRevealed ? revealed : masked).refetch()} />
      )}
      {!request && !error && <Lines count={8} />}
      {request && (
        <Details
          request={request}
          isRevealed={isRevealed && revealed.data !== undefined}
          onReveal={() => setIsRevealed(true)}
        />
      )}
    </Drawer>
  );
}

interface DetailsProps {
  request: RequestWithBody;
  isRevealed: boolean;
  onReveal: () => void;
}

function Details({ request, isRevealed, onReveal }: DetailsProps) {
  const { t } = useTranslation();
  const [isAsking, setIsAsking] = useState(false);
  const definition = definitionAt(useDefinitions(), request.path);
  const canCorrect = request.status >= 400 && request.body !== null && isCreation(request, definition);
  return (
    <Stack gap="lg">
      <Group gap="sm">
        <StatusMark status={request.status} />
        <Text size="sm">
          {/* The invalid fields below say more than the sentence that leads a program to them. */}
          {(request.errors.length === 0 && request.message) ||
            t(request.status < 400 ? 'requests.fine' : 'requests.refused')}
        </Text>
      </Group>
      {request.errors.length > 0 && (
        <section>
          <Title order={3} mb={8}>
            {t('requests.fieldErrors', { count: request.errors.length })}
          </Title>
          <ul className={classes.errors}>
            {request.errors.map((error) => (
              <li key={`${error.field} ${error.code}`}>
                <Text size="sm" component="span">
                  {error.field && <strong>{fieldTitle(definition, error.field)}: </strong>}
                  {fieldErrorText(fieldAt(definition, error.field), error, definition)}
                </Text>
                <Text size="xs" c="dimmed" component="span" className={classes.breakable}>
                  <code>{error.field || '–'}</code> · <code>{error.code}</code>
                </Text>
              </li>
            ))}
          </ul>
        </section>
      )}
      {request.correction && <CorrectionNote correction={request.correction} />}
      {canCorrect && definition && !request.correction && (
        <div>
          <ButtonLink to={`/requests/${request.id}/correct`} leftSection={<Icon name="pencil" size={16} />}>
            {t('requests.correct', { what: nounOf(definition) })}
          </ButtonLink>
        </div>
      )}
      {request.ignoredFields.length > 0 && (
        <Alert color="yellow" variant="light" icon={<Icon name="info" />} title={t('requests.ignored')}>
          <Text size="sm">{t('requests.ignoredText')}</Text>
          <ul className={classes.ignored}>
            {request.ignoredFields.map((field) => (
              <li key={field}>
                <code>{field}</code>
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {request.body !== null && (
        <section>
          <Group justify="space-between" mb={8}>
            <Title order={3}>{t('requests.body')}</Title>
            {!isRevealed && (
              <Button size="compact-sm" variant="default" onClick={() => setIsAsking(true)}>
                {t('requests.reveal')}
              </Button>
            )}
          </Group>
          <Body body={request.body} invalid={request.errors.map(({ field }) => field)} />
          {!isRevealed && (
            <Text size="xs" c="dimmed" mt={6}>
              {t('requests.masked')}
            </Text>
          )}
        </section>
      )}
      <dl className={classes.facts}>
        <dt>{t('requests.time')}</dt>
        <dd>{formatTime(request.at)}</dd>
        <dt>{t('requests.duration')}</dt>
        <dd>{formatNumber(request.durationMs, { maximumFractionDigits: 1 })} ms</dd>
        {request.code && (
          <>
            <dt>{t('requests.code')}</dt>
            <dd>
              <code>{request.code}</code>
            </dd>
          </>
        )}
        <dt>{t('requests.userAgent')}</dt>
        <dd>{request.userAgent || '–'}</dd>
        <dt>{t('requests.address')}</dt>
        <dd>{request.address || '–'}</dd>
      </dl>
      <div>
        <Text size="sm" fw={550} mb={4}>
          {t('requests.id')}
        </Text>
        <CopyField value={request.id} />
      </div>
      {isAsking && (
        <Confirmation
          title={t('requests.revealTitle')}
          text={t('requests.revealText')}
          action={t('requests.reveal')}
          isDangerous={false}
          onConfirm={async () => onReveal()}
          onClose={() => setIsAsking(false)}
        />
      )}
    </Stack>
  );
}

function Body({ body, invalid }: { body: string; invalid: readonly string[] }) {
  const { t } = useTranslation();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={classes.body} tabIndex={0} aria-label={t('requests.body')}>
      {toBodyLines(body).map(({ text, depth, path }, index) => (
        <code
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
          key={index}
          style={{ paddingLeft: `${depth * 1.25 + 0.75}rem` }}
          data-invalid={(path !== '' && invalid.includes(path)) || undefined}
        >
          {text}
        </code>
      ))}
    </section>
  );
}
