// The overview of a business without customers: one place to drop the list of them.
import { Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { nounOf, useDefinition } from '../api/definitions.ts';
import { ButtonLink } from '../frame/links.tsx';
import { FileDrop } from '../import/file-drop.tsx';
import { handOver } from '../import/handed-file.ts';
import classes from './home.module.css';

export function FreshBusiness() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const customer = useDefinition('customers');
  return (
    <div className={classes.fresh}>
      <FileDrop
        title={t('import.dropCustomers')}
        isReading={false}
        errorCode={undefined}
        onFile={(file) => {
          handOver(file);
          void navigate({ to: '/import' });
        }}
      />
      {customer && (
        <Group gap="sm" mt="md" justify="center">
          <Text size="sm" c="dimmed">
            {t('import.orByHand')}
          </Text>
          <ButtonLink size="compact-sm" variant="default" to={`/data/${customer.collection}/new`}>
            {t('table.new', { title: nounOf(customer) })}
          </ButtonLink>
        </Group>
      )}
    </div>
  );
}
