// Pages that create and edit an object.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import {
  type Definition,
  type Entity,
  labelOf,
  nounOf,
  pluralOf,
  useDefinition,
} from '../api/definitions.ts';
import { recordQuery, useForgetReadings } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { NotAllowedPage, NotFoundPage } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { tellFailure } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { RecordFailure } from '../records/record-failure.tsx';
import { useUndo } from '../records/use-undo.ts';
import { decimalSeparator } from '../texts/format.ts';
import { forCare } from './form-layout.ts';
import { copyValues, startValues, toNewBody, type Values } from './form-values.ts';
import { RecordForm } from './record-form.tsx';
import { useEditing } from './use-editing.tsx';

export function CreationPage() {
  const { collection = '' } = useParams({ strict: false });
  const definition = useDefinition(collection);
  const mayEdit = useMayEdit();
  if (!definition) return <NotFoundPage />;
  return mayEdit ? <Creation key={collection} definition={definition} /> : <NotAllowedPage />;
}

function Creation({ definition }: { definition: Definition }) {
  const { t } = useTranslation();
  const given = useSearch({ strict: false }) as Record<string, string>;
  const source = useQuery({
    ...recordQuery(definition.collection, given.copyOf ?? ''),
    enabled: given.copyOf !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const [started, setStarted] = useState(() => ({
    count: 0,
    values: startValues(definition, decimalSeparator(), given),
  }));
  if (given.copyOf && source.error)
    return <RecordFailure definition={definition} error={source.error} onRetry={() => source.refetch()} />;
  if (given.copyOf && !source.data) return <Lines count={8} />;
  const isCopy = source.data !== undefined && started.count === 0;
  const initial = isCopy ? copyValues(definition, source.data, decimalSeparator()) : started.values;
  return (
    <>
      <PageHead
        title={t('form.new', { title: nounOf(definition) })}
        trail={[{ title: pluralOf(definition), to: `/data/${definition.collection}` }]}
      />
      <CreationForm
        key={started.count}
        definition={definition}
        initial={initial}
        onNext={(values) => {
          const owners = definition.fields.filter(({ reference }) => reference?.isOwner);
          const kept = Object.fromEntries(owners.map(({ path }) => [path, values[path]]));
          const fresh = startValues(definition, decimalSeparator(), {});
          setStarted({ count: started.count + 1, values: { ...fresh, ...kept } });
        }}
      />
    </>
  );
}

interface CreationFormProps {
  definition: Definition;
  initial: Values;
  /** The known errors of these values, by field. */
  errors?: ReadonlyMap<string, string>;
  onCreated?: (id: string) => Promise<void>;
  /** Begins another record after this one is saved. */
  onNext?: (values: Values) => void;
}

export function CreationForm({ definition, initial, errors, onCreated, onNext }: CreationFormProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forgetReadings = useForgetReadings();
  const isSettled = useRef(false);
  const { tellCreated } = useUndo();
  const { collection } = definition;

  async function create(values: Values): Promise<string> {
    const body = toNewBody(definition, values, decimalSeparator());
    const { id } = await call<{ id: string }>('POST', definition.path, { body });
    isSettled.current = true;
    // The record exists: a failure from here on must not create it again.
    await onCreated?.(id).catch(tellFailure);
    await forgetReadings();
    return id;
  }

  return (
    <RecordForm
      definition={definition}
      initial={initial}
      initialErrors={errors}
      saveTitle={t('actions.save')}
      isSettled={isSettled}
      onCancel={() => window.history.back()}
      onSave={async (values) => {
        const id = await create(values);
        await navigate({ to: '/data/$collection/$id', params: { collection, id }, replace: true });
        tellCreated(definition, id);
      }}
      next={
        onNext && {
          save: async (values) => tellCreated(definition, await create(values)),
          begin: onNext,
        }
      }
    />
  );
}

export function EditingPage() {
  const { collection = '', id = '' } = useParams({ strict: false });
  const definition = useDefinition(collection);
  const {
    data: entity,
    error,
    refetch,
  } = useQuery({
    ...recordQuery(collection, id),
    enabled: definition !== undefined,
    // A refetch must not change a form while a person types in it.
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const mayEdit = useMayEdit();
  if (!definition) return <NotFoundPage />;
  if (!mayEdit && definition.careFields.length === 0) return <NotAllowedPage />;
  const changeable = mayEdit ? definition : forCare(definition);
  if (error) return <RecordFailure definition={definition} error={error} onRetry={() => refetch()} />;
  return entity ? <Editing key={entity.id} definition={changeable} stored={entity} /> : <Lines count={8} />;
}

interface EditingProps {
  definition: Definition;
  stored: Entity;
}

function Editing({ definition, stored }: EditingProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const isSettled = useRef(false);
  const { collection } = definition;
  const params = { collection, id: stored.id };
  const name = labelOf(definition, stored);
  const { version, initial, save, dialog } = useEditing(definition, stored, async () => {
    isSettled.current = true;
    await navigate({ to: '/data/$collection/$id', params, replace: true });
  });
  return (
    <>
      <PageHead
        title={t('form.edit', { name })}
        trail={[
          { title: pluralOf(definition), to: `/data/${collection}` },
          { title: name, to: `/data/${collection}/${stored.id}` },
        ]}
      />
      <RecordForm
        // Resets the form when the person takes the stored version.
        key={version}
        definition={definition}
        initial={initial}
        saveTitle={t('actions.save')}
        isSettled={isSettled}
        onCancel={() => navigate({ to: '/data/$collection/$id', params })}
        onSave={save}
      />
      {dialog}
    </>
  );
}
