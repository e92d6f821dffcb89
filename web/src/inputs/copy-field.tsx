import { Button, CopyButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import classes from './copy-field.module.css';

/** A value that one takes elsewhere: to read, to mark, or to copy with one click. */
export function CopyField({ value }: { value: string }) {
  const { t } = useTranslation();
  return (
    <div className={classes.field}>
      <code>{value}</code>
      <CopyButton value={value} timeout={3000}>
        {({ copied, copy }) => (
          <Button
            size="compact-sm"
            variant={copied ? 'filled' : 'default'}
            leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
            onClick={copy}
          >
            {t(copied ? 'actions.copied' : 'actions.copy')}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
