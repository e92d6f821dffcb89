// A position chosen on the map, for the form of a site.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../dialogs/dialog.tsx';
import { formatNumber } from '../texts/format.ts';
import { type Address, approximatePositionQuery } from './approximate-position.ts';
import { cityNamed } from './cities.ts';
import { clustersQuery, nothingSeen } from './clusters.ts';
import type { ChangeView } from './gestures.ts';
import classes from './map.module.css';
import { MapCanvas } from './map-canvas.tsx';
import { useView } from './use-view.ts';
import { boundsOf, germany, type Position, type Size, toWorld, type View } from './view.ts';

interface PositionPickerProps {
  position: Position | undefined;
  /** The picker begins near this address. */
  address: Address;
  onChoose: (position: Position) => void;
  onClose: () => void;
}

const nearZoom = 12;

function startView(position: Position | undefined, city: string): View {
  if (position) return { ...toWorld(position), zoom: nearZoom };
  const known = cityNamed(city);
  return known ? { ...toWorld(known), zoom: 9.5 } : germany;
}

export function PositionPicker({ position, address, onChoose, onClose }: PositionPickerProps) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState(position);
  const { view, settled, change } = useView(startView(position, address.city));
  const { data: approximate } = useQuery({ ...approximatePositionQuery(address), enabled: !position });
  const hasMoved = useRef(false);
  const move: ChangeView = useCallback(
    (next) => {
      hasMoved.current = true;
      change(next);
    },
    [change],
  );
  useEffect(() => {
    if (approximate && !hasMoved.current) change(() => ({ ...toWorld(approximate), zoom: nearZoom }));
  }, [approximate, change]);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const { data: seen = nothingSeen } = useQuery({
    ...clustersQuery(boundsOf(settled, size), Math.floor(settled.zoom)),
    enabled: size.width > 0,
  });
  const degrees = (value: number) =>
    formatNumber(value, { minimumFractionDigits: 5, maximumFractionDigits: 5 });
  return (
    <Dialog onClose={onClose} size="xl" title={t('map.pickTitle')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('map.pickText')}
          {approximate && ` ${t('map.pickAround', { place: `${address.zipCode} ${address.city}`.trim() })}`}
        </Text>
        <div className={classes.picker}>
          <MapCanvas
            label={t('map.pickTitle')}
            view={view}
            onView={move}
            size={size}
            onSize={setSize}
            clusters={seen.clusters}
            marker={chosen}
            onPlace={setChosen}
          />
        </div>
        <Group justify="space-between" gap="xs">
          <Text size="sm" className="numbers" role="status">
            {chosen
              ? t('map.picked', { latitude: degrees(chosen.lat), longitude: degrees(chosen.lng) })
              : t('map.pickedNone')}
          </Text>
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('actions.cancel')}
            </Button>
            <Button
              disabled={!chosen}
              onClick={() => {
                // Five decimals are a metre; more would only pretend.
                const round = (value: number) => Number(value.toFixed(5));
                onChoose({ lat: round(chosen!.lat), lng: round(chosen!.lng) });
                onClose();
              }}
            >
              {t('map.take')}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Dialog>
  );
}
