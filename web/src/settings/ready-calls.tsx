// Calls that work as they are, for the command line and for TypeScript.
import { Anchor, Button, CopyButton, Group, Tabs, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Card } from '../frame/card.tsx';
import { useNoteCopy } from '../home/checklist.tsx';
import { Icon } from '../icons.tsx';
import classes from './settings.module.css';

const customer = {
  companyName: 'Hotel Alsterblick GmbH',
  address: { streetName: 'Ballindamm', houseNumber: '17a', zipCode: '20095', city: 'Hamburg' },
};

function curlCall(base: string, key: string): string {
  return `curl ${base}/customer \\
  -H 'ApiKey: ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(customer)}'`;
}

function typescriptCall(base: string, key: string | undefined): string {
  return `const response = await fetch('${base}/customer', {
  method: 'POST',
  headers: { ApiKey: ${key ? `'${key}'` : 'process.env.STAMM_KEY!'}, 'Content-Type': 'application/json' },
  body: JSON.stringify(${JSON.stringify(customer, null, 2).replaceAll('\n', '\n  ')}),
});
if (response.status !== 201) throw new Error(await response.text());
const { id } = await response.json();`;
}

/** Puts the new key into the calls while the page shows it. Only its creator sees it. */
export function ReadyCalls({ apiKey }: { apiKey: string | undefined }) {
  const { t } = useTranslation();
  const base = `${window.location.origin}/api/v1`;
  const calls = [
    { name: 'curl', text: curlCall(base, apiKey ?? 'STAMM_KEY') },
    { name: 'TypeScript', text: typescriptCall(base, apiKey) },
  ];
  return (
    <Card title={t('api.calls')} icon="code">
      <Text size="sm" c="dimmed" mb="sm" mt={-8}>
        {t(apiKey ? 'api.callsWithKey' : 'api.callsText')}
      </Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="sm">
          {calls.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {calls.map(({ name, text }) => (
          <Tabs.Panel key={name} value={name}>
            <CallText text={text} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Group gap="lg" mt="md">
        <Text size="sm">
          {t('api.base')}: <code>{base}</code>
        </Text>
        <Anchor href="/docs" size="sm" target="_blank">
          {t('api.reference')} <Icon name="external" size={14} />
        </Anchor>
        <Anchor href="/openapi.json" size="sm" target="_blank">
          {t('api.document')} <Icon name="external" size={14} />
        </Anchor>
      </Group>
    </Card>
  );
}

function CallText({ text }: { text: string }) {
  const { t } = useTranslation();
  const noteCopy = useNoteCopy();
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it. */}
      <pre className={classes.code} tabIndex={0}>
        {text}
      </pre>
      <CopyButton value={text} timeout={3000}>
        {({ copied, copy }) => (
          <Button
            mt="sm"
            size="xs"
            variant="default"
            leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
            onClick={() => {
              copy();
              noteCopy();
            }}
          >
            {t(copied ? 'actions.copied' : 'actions.copy')}
          </Button>
        )}
      </CopyButton>
    </>
  );
}
