import { useTranslation } from 'react-i18next';
import { EmptyNote } from './failure.tsx';

/** The place of a page that the navigation has already. */
export function ComingPage() {
  const { t } = useTranslation();
  return <EmptyNote icon="leaf" level={1} title={t('soon.title')} text={t('soon.text')} />;
}
