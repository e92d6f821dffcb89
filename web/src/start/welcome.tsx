import { Anchor, Code, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { StartFrame } from './start-frame.tsx';

/** While nobody has an account: where the link is that makes the first one. */
export function WelcomePage() {
  const { t } = useTranslation();
  return (
    <StartFrame title={t('welcome.title')} text={t('welcome.text')}>
      <List type="ordered" spacing="sm">
        <List.Item>
          {t('welcome.where')}
          <Code block mt={6}>
            {`${window.location.origin}/setup#…`}
          </Code>
        </List.Item>
        <List.Item>{t('welcome.step')}</List.Item>
      </List>
      <Text size="sm" c="dimmed">
        {t('welcome.lost')}
      </Text>
      <Text size="sm" c="dimmed">
        {t('welcome.developer')}{' '}
        <Anchor href="/docs" underline="always">
          {t('welcome.reference')}
        </Anchor>
      </Text>
    </StartFrame>
  );
}
