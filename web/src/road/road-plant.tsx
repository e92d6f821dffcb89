// The health of one plant on its page, changed as on the page of its site.
import { useTranslation } from 'react-i18next';
import type { Entity } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { withChange } from './changes.ts';
import { PlantRow } from './plant-health.tsx';
import classes from './road.module.css';
import { useChanges } from './use-changes.ts';

export function RoadPlant({ plant }: { plant: Entity }) {
  const { t } = useTranslation();
  const changes = useChanges();
  return (
    <Card title={t('health.title')} icon="plant">
      <ul className={classes.plants}>
        <PlantRow
          plant={withChange(plant, changes)}
          stored={plant}
          change={changes.find(({ plantId }) => plantId === plant.id)}
        />
      </ul>
    </Card>
  );
}
