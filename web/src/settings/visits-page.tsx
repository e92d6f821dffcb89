// What the business decides about its visits for good.
import { useTranslation } from 'react-i18next';
import { Card } from '../frame/card.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { HolidaySetting } from '../visits/holiday-setting.tsx';

export function VisitSettingsPage() {
  const { t } = useTranslation();
  return (
    <>
      <PageHead title={t('visits.title')} text={t('visits.settingsText')} />
      <Card title={t('visits.holidays')}>
        <HolidaySetting />
      </Card>
    </>
  );
}
