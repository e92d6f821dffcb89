// The address from which day sheets and routes begin.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Position } from '../../../core/place/route.ts';
import { call } from '../api/client.ts';
import { useForgetReadings } from '../api/records.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { tell } from '../frame/notices.tsx';
import { Icon } from '../icons.tsx';
import { type StartAddress, visitSettingsQuery } from './visits-query.ts';

const PositionPicker = lazy(async () => ({
  default: (await import('../map/position-picker.tsx')).PositionPicker,
}));

const path = '/visit-settings/start-address';

export function StartAddressButton() {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useQuery(visitSettingsQuery);
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="home" size={16} />}
        disabled={!data}
        onClick={() => setIsOpen(true)}
      >
        {t('startAddress.title')}
      </Button>
      {isOpen && data && (
        <Dialog title={t('startAddress.title')} onClose={() => setIsOpen(false)}>
          <StartAddressForm stored={data.startAddress} onDone={() => setIsOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

function StartAddressForm({ stored, onDone }: { stored: StartAddress | null; onDone: () => void }) {
  const { t } = useTranslation();
  const forgetReadings = useForgetReadings();
  const [address, setAddress] = useState({
    street: stored?.street ?? '',
    zipCode: stored?.zipCode ?? '',
    city: stored?.city ?? '',
  });
  const [position, setPosition] = useState<Position | undefined>(stored?.location);
  const [isPicking, setIsPicking] = useState(false);
  const change = useMutation({
    mutationFn: (isKept: boolean) =>
      isKept ? call('PUT', path, { body: { ...address, ...position } }) : call('DELETE', path),
    onSuccess: async () => {
      await forgetReadings();
      tell(t('form.saved'));
      onDone();
    },
  });
  const input = (name: keyof typeof address, width?: number) => (
    <TextInput
      label={t(`startAddress.${name}`)}
      required
      w={width}
      style={width ? undefined : { flex: 1 }}
      value={address[name]}
      onChange={({ currentTarget: { value } }) => {
        setAddress({ ...address, [name]: value });
        // The position belongs to the address that it was chosen for.
        setPosition(undefined);
      }}
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(true);
      }}
    >
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('startAddress.text')}
        </Text>
        {input('street')}
        <Group gap="sm" wrap="nowrap">
          {input('zipCode', 120)}
          {input('city')}
        </Group>
        <Group gap="sm">
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon name="map" size={14} />}
            onClick={() => setIsPicking(true)}
          >
            {t('map.pick')}
          </Button>
          <Text size="sm" c="dimmed" role="status">
            {t(position ? 'startAddress.exact' : 'startAddress.approximate')}
          </Text>
        </Group>
        {change.error && <FailureNote error={change.error} />}
        <Group justify="space-between">
          {stored ? (
            <Button
              variant="subtle"
              color="red"
              loading={change.isPending}
              onClick={() => change.mutate(false)}
            >
              {t('actions.remove')}
            </Button>
          ) : (
            <span />
          )}
          <Button type="submit" loading={change.isPending}>
            {t('actions.save')}
          </Button>
        </Group>
      </Stack>
      {isPicking && (
        <Suspense>
          <PositionPicker
            position={position}
            address={address}
            onChoose={setPosition}
            onClose={() => setIsPicking(false)}
          />
        </Suspense>
      )}
    </form>
  );
}
