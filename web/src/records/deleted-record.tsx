// The page of a deleted object: its name, the way back while the bin has it, and its history.
import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { deletedObjectQuery } from '../api/bin.ts';
import { type Definition, labelOf, pluralOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { historyQuery } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { includedText } from '../bin/bin-page.tsx';
import { EmptyNote } from '../frame/failure.tsx';
import { AnchorLink, ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { formatDay, formatTime } from '../texts/format.ts';
import { actorText } from './actor.tsx';
import { Details } from './details.tsx';
import { History } from './history.tsx';
import classes from './record.module.css';
import { RestoreButton } from './restore-button.tsx';

export function DeletedRecord({ definition, id }: { definition: Definition; id: string }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const definitions = useDefinitions();
  const bin = useQuery({ ...deletedObjectQuery(definition, id), enabled: mayEdit });
  const history = useQuery(historyQuery(definition.name, id));
  const { data: named } = useNamed([definition.name], id, true);
  if (history.isPending || (mayEdit && bin.isPending)) return <Lines count={8} />;
  const deletion = history.data?.data.find(({ action }) => action === 'DELETED');
  if (!deletion)
    return (
      <EmptyNote
        icon={resourceIcon(definition.name)}
        level={1}
        title={t('record.gone')}
        text={t('record.goneText')}
      >
        <ButtonLink to={`/data/${definition.collection}`} variant="light" mt="sm">
          {pluralOf(definition)}
        </ButtonLink>
      </EmptyNote>
    );
  const kept = bin.data ?? undefined;
  const name = named ? labelOf(definition, named.entity) : titleOf(definition);
  const owner = definitions.find((candidate) => candidate.name === kept?.deletedWith?.resource);
  return (
    <div className={classes.page}>
      <PageHead
        title={name}
        trail={[{ title: pluralOf(definition), to: `/data/${definition.collection}` }]}
        actions={kept && <RestoreButton definition={definition} id={id} name={name} isPrimary />}
      />
      <Alert
        variant="light"
        color="yellow"
        icon={<Icon name="trash" />}
        mb="lg"
        title={t('bin.deletedTitle', { when: formatTime(deletion.at), who: actorText(deletion, t) })}
      >
        {kept
          ? t('bin.deletedText', { day: formatDay(kept.restorableUntil.slice(0, 10)) })
          : t('bin.tooLate')}
        {kept &&
          kept.included.length > 0 &&
          ` ${t('bin.comesWith', { things: includedText(kept, definitions) })}`}
        {owner && (
          <>
            {' '}
            {t('bin.deletedWith', { title: titleOf(owner) })}{' '}
            <AnchorLink to={`/data/${owner.collection}/${kept!.deletedWith!.id}`}>{t('bin.show')}</AnchorLink>
          </>
        )}
      </Alert>
      <div className={classes.columns}>
        <div className={classes.column}>
          {kept && <Details definition={definition} entity={kept.data} isReadOnly />}
        </div>
        <div className={classes.column}>
          <History definition={definition} id={id} />
        </div>
      </div>
    </div>
  );
}
