// As high as the rows that will stand there, so that the cards below stay where they are.
import { Skeleton, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import record from '../records/record.module.css';
import classes from './home.module.css';

export function LoadingRows({ count = 6 }: { count?: number }) {
  const { t } = useTranslation();
  return (
    <ul className={record.list} role="status" aria-label={t('app.loading')}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical.
        <li key={index}>
          <span className={classes.change}>
            <Skeleton width="70%">
              <Text size="sm">&nbsp;</Text>
              <Text size="xs">&nbsp;</Text>
            </Skeleton>
          </span>
        </li>
      ))}
    </ul>
  );
}
