// The way from the form to the map, which is loaded only when somebody takes it.
import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icons.tsx';
import { decimalSeparator } from '../texts/format.ts';
import { parseNumber, type Values } from './form-values.ts';

const PositionPicker = lazy(async () => ({
  default: (await import('../map/position-picker.tsx')).PositionPicker,
}));

interface PositionButtonProps {
  /** "address.location" */
  path: string;
  values: Values;
  onChange: (path: string, value: unknown) => void;
}

export function PositionButton({ path, values, onChange }: PositionButtonProps) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const separator = decimalSeparator();
  const [lat, lng] = ['lat', 'lng'].map((name) =>
    Number(parseNumber(String(values[`${path}.${name}`] ?? ''), separator) ?? Number.NaN),
  ) as [number, number];
  const ofAddress = (name: string) => String(values[`${path.split('.')[0]}.${name}`] ?? '');
  const isKnown = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
  return (
    <>
      <Button
        mt="md"
        variant="default"
        leftSection={<Icon name="map" size={16} />}
        onClick={() => setIsOpen(true)}
      >
        {t('map.pick')}
      </Button>
      {isOpen && (
        <Suspense>
          <PositionPicker
            position={isKnown ? { lat, lng } : undefined}
            address={{ zipCode: ofAddress('zipCode'), city: ofAddress('city') }}
            onChoose={(chosen) => {
              onChange(`${path}.lat`, String(chosen.lat).replace('.', separator));
              onChange(`${path}.lng`, String(chosen.lng).replace('.', separator));
            }}
            onClose={() => setIsOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
