import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';

export function ClearFilters({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <Button variant="subtle" leftSection={<Icon name="close" size={14} />} onClick={onClear}>
      {t('actions.clearFilters')}
    </Button>
  );
}
