// Lasting settings of a business for its visits.
import { useTranslation } from 'react-i18next';
import { Card } from '../frame/card.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { HolidaySetting } from '../visits/holiday-setting.tsx';

export function VisitSettingsPage() {
  const { t } = useTranslation();
  return (
    <>
      <PageHead title={t('visits.title')} text={t('visits.settingsText')} />
      <Card title={t('visits.holidays')} icon="calendar">
        <HolidaySetting />
      </Card>
    </>
  );
}
