// Help without a password: mail, a colleague, or the operator.
import { Anchor, Code, Collapse, Stack, Text } from '@mantine/core';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { State } from '../api/session.ts';
import { AnchorLink } from '../frame/links.tsx';

export function SignInHelp({ hasMail, isRelease }: Pick<State, 'hasMail' | 'isRelease'>) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  if (hasMail)
    return (
      <AnchorLink to="/forgot" size="sm" underline="always">
        {t('access.forgotten')}
      </AnchorLink>
    );
  return (
    <div>
      <Anchor
        component="button"
        type="button"
        size="sm"
        underline="always"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setIsOpen(!isOpen)}
      >
        {t('access.forgotten')}
      </Anchor>
      <Collapse expanded={isOpen} id={id}>
        <Stack gap="xs" pt="sm">
          <Text size="sm">{t('access.helpAsk')}</Text>
          <Text size="sm">{t('access.helpOnly')}</Text>
          <Code block style={{ whiteSpace: 'pre-wrap' }}>
            {`${isRelease ? 'stamm' : 'npm run --silent stamm --'} user password `}
            <span style={{ whiteSpace: 'nowrap' }}>--email …</span>
          </Code>
          <Text size="sm">{t('access.helpInvited')}</Text>
        </Stack>
      </Collapse>
    </div>
  );
}
