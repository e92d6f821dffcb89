// Shows a rejected creation in its form, to correct it and send it again.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, queryString, toApiError } from '../api/client.ts';
import { type Definition, type Entity, nounOf, useDefinitions, valueAt } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';
import { CreationForm } from '../forms/form-page.tsx';
import { toValues } from '../forms/form-values.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote, NotFoundPage } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import { decimalSeparator, formatTime } from '../texts/format.ts';
import { isRepaired, ownerNamesOf, toCorrection, unreadableValues } from './correction.ts';
import { CorrectionNote } from './correction-note.tsx';
import { definitionAt, fieldAt, isCreation, type RequestWithBody, requestQuery } from './requests.ts';

export function CorrectionPage() {
  const { t } = useTranslation();
  const { id = '' } = useParams({ strict: false });
  const definitions = useDefinitions();
  const [isAllowed, setIsAllowed] = useState(false);
  const masked = useQuery({ ...requestQuery(id, false), staleTime: 0 });
  const definition = masked.data && definitionAt(definitions, masked.data.path);
  const trail = [{ title: t('requests.title'), to: '/requests' }];
  if (masked.error)
    return toApiError(masked.error).status === 404 ? (
      <NotFoundPage />
    ) : (
      <>
        <PageHead title={t('requests.one')} trail={trail} />
        <FailureNote error={masked.error} onRetry={() => masked.refetch()} />
      </>
    );
  if (!masked.data) return <Lines count={8} />;
  if (!definition || masked.data.body === null || !isCreation(masked.data, definition))
    return <NotFoundPage />;
  return (
    <>
      <PageHead
        title={t('requests.correctTitle', { what: nounOf(definition) })}
        text={t('requests.correctText', { when: formatTime(masked.data.at) })}
        trail={trail}
      />
      {masked.data.correction ? (
        <CorrectionNote correction={masked.data.correction} />
      ) : isAllowed ? (
        <Correction id={id} definition={definition} />
      ) : (
        <Card title={t('requests.revealTitle')} icon="info">
          <Stack gap="md" maw={560}>
            <Text size="sm">{t('requests.revealText')}</Text>
            <Group gap="xs">
              <Button onClick={() => setIsAllowed(true)}>{t('requests.revealAndCorrect')}</Button>
              <ButtonLink to="/requests" variant="default">
                {t('actions.cancel')}
              </ButtonLink>
            </Group>
          </Stack>
        </Card>
      )}
    </>
  );
}

function Correction({ id, definition }: { id: string; definition: Definition }) {
  const { t } = useTranslation();
  const sent = useQuery({
    queryKey: ['requests', 'correction', id],
    queryFn: async ({ signal }) => {
      const request = await call<RequestWithBody>('GET', `/requests/${id}?reveal=true`, { signal });
      return { request, owners: await findOwners(definition, request.body ?? '{}', signal) };
    },
    // Typed text must not change while somebody types.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    gcTime: 0,
    retry: false,
  });
  const definitions = useDefinitions();
  if (sent.error) return <FailureNote error={sent.error} onRetry={() => sent.refetch()} />;
  if (!sent.data) return <Lines count={8} />;
  const { request, owners } = sent.data;
  const entity = toCorrection(definition, request.body ?? '{}', owners);
  const initial = toValues(definition, entity, decimalSeparator());
  const body = JSON.parse(request.body ?? '{}');
  const errors = request.errors.flatMap(({ field, ...error }): [string, string][] => {
    const known = fieldAt(definition, ownerNamesOf(definition).get(field) ?? field);
    if (!known) return [];
    const value = valueAt(body, known.path);
    const judged = { code: error.code, sent: value, shown: initial[known.path] };
    const text = isRepaired(known, judged, decimalSeparator())
      ? `${t('requests.check')} ${t('requests.asSent', { value: String(value) })}`
      : fieldErrorText(known, error, definition);
    return [[known.path, text]];
  });
  const shownErrors = new Map(errors);
  for (const [path, value] of unreadableValues(definition, request.body ?? '{}')) {
    // Leave the flag undecided: a switch would say no.
    if (typeof initial[path] === 'boolean') initial[path] = undefined;
    const asSent = t('requests.asSent', { value });
    shownErrors.set(path, [shownErrors.get(path), asSent].filter(Boolean).join(' '));
  }
  return (
    <CreationForm
      definition={definition}
      initial={initial}
      errors={shownErrors}
      onCreated={async (created) => {
        await call('POST', `/requests/${id}/correction`, {
          body: { resource: definition.name, id: created },
        });
      }}
    />
  );

  /** Owners that the body calls by their external id; the form knows them by their own. */
  async function findOwners(
    definition: Definition,
    body: string,
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const sentFields = JSON.parse(body) as Record<string, unknown>;
    for (const [externalName, path] of ownerNamesOf(definition)) {
      const externalId = sentFields[externalName];
      const resource = definition.fields.find((field) => field.path === path)?.reference?.resources[0];
      const collection = definitions.find(({ name }) => name === resource)?.collection;
      if (typeof externalId !== 'string' || !collection) continue;
      const query = queryString({ externalId, limit: 1 });
      const { data } = await call<Page<Entity>>('GET', `/${collection}${query}`, { signal });
      if (data[0]) found.set(path, data[0].id);
    }
    return found;
  }
}
