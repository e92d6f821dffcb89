// The language and the theme, for the frame and for pages before the sign-in.
import { SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useForgetReadings } from '../api/records.ts';
import { type Language, languageNames, languages, switchLanguage } from '../texts/language.ts';

export function LanguageChoice({ size = 'xs' }: { size?: 'xs' | 'sm' }) {
  const { t, i18n } = useTranslation();
  const forgetReadings = useForgetReadings();
  return (
    <SegmentedControl
      size={size}
      fullWidth
      aria-label={t('navigation.language')}
      value={i18n.language}
      data={languages.map((language) => ({ value: language, label: languageNames[language] }))}
      onChange={async (language) => {
        await switchLanguage(language as Language);
        // Sentences of the service come in its language.
        await forgetReadings();
      }}
    />
  );
}

export function SchemeChoice() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={t('navigation.scheme')}
      value={colorScheme}
      data={[
        { value: 'auto', label: t('navigation.auto') },
        { value: 'light', label: t('navigation.light') },
        { value: 'dark', label: t('navigation.dark') },
      ]}
      onChange={(scheme) => setColorScheme(scheme as 'auto' | 'light' | 'dark')}
    />
  );
}

export function Preferences() {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {t('navigation.language')}
      </Text>
      <LanguageChoice />
      <Text size="xs" c="dimmed">
        {t('navigation.scheme')}
      </Text>
      <SchemeChoice />
    </Stack>
  );
}
