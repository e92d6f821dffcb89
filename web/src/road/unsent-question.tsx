import { useTranslation } from 'react-i18next';
import { Confirmation } from '../dialogs/confirmation.tsx';

interface QuestionProps {
  count: number;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before a sign-out that deletes unsent changes. */
export function UnsentQuestion({ count, onConfirm, onClose }: QuestionProps) {
  const { t } = useTranslation();
  return (
    <Confirmation
      title={t('road.signOutTitle')}
      text={t('road.signOutText', { count })}
      action={t('navigation.signOut')}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}
