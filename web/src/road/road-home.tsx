// The first page of somebody on the road: unsent changes, the day's stops, plants in need.
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/session.ts';
import { PageHead } from '../frame/page-head.tsx';
import { PlantsInNeed } from '../home/soon-cards.tsx';
import { TodayVisits } from '../paper/today-visits.tsx';
import classes from './road.module.css';
import { UnsentCard } from './unsent-card.tsx';

export function RoadHome({ greeting }: { greeting: string }) {
  const { t } = useTranslation();
  const { business } = useMe();
  return (
    <div className={classes.page}>
      <PageHead title={greeting} text={t('home.text', { business: business.name })} />
      <UnsentCard />
      <TodayVisits />
      <PlantsInNeed />
    </div>
  );
}
