// The record of the row that has the focus, beside the table.
import { ActionIcon, Group, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, hintOf, labelOf } from '../api/definitions.ts';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { Details } from '../records/details.tsx';
import { Related } from '../records/related.tsx';
import { StatusBadge } from '../records/value.tsx';
import classes from './table.module.css';

interface PreviewPanelProps {
  definition: Definition;
  entity: Entity;
  onClose: () => void;
}

export default function PreviewPanel({ definition, entity, onClose }: PreviewPanelProps) {
  const { t } = useTranslation();
  const name = labelOf(definition, entity);
  return (
    <aside
      className={`${classes.preview} panel`}
      aria-label={t('preview.title')}
      onKeyDown={({ key, target }) => {
        const isTyping = (target as HTMLElement).closest('input, textarea, form');
        if (key === 'Escape' && !isTyping) onClose();
      }}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <h2 className={classes.previewTitle}>
            <AnchorLink to={`/data/${definition.collection}/${entity.id}`} inherit>
              {name}
            </AnchorLink>
          </h2>
          <span className={classes.hint}>{hintOf(definition, entity)}</span>
        </div>
        <Group gap="xs" wrap="nowrap" className={classes.previewTools}>
          <StatusBadge fields={definition.fields} entity={entity} />
          <ActionIcon variant="subtle" color="gray" aria-label={t('preview.close')} onClick={onClose}>
            <Icon name="close" size={16} />
          </ActionIcon>
        </Group>
      </Group>
      <Details key={entity.id} definition={definition} entity={entity} />
      <Related key={`${entity.id} related`} definition={definition} id={entity.id} />
      <VisuallyHidden role="status">{t('preview.of', { name })}</VisuallyHidden>
    </aside>
  );
}
