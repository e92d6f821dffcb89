// The menu of a visit on the board: the facts about it, and the actions below.
import { Menu, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMayEdit } from '../../api/session.ts';
import { Icon } from '../../icons.tsx';
import { addressText } from '../../tables/columns.ts';
import { Marks } from '../visit-marks.tsx';
import { timesText } from '../visit-times.ts';
import type { Visit } from '../visits-query.ts';

interface VisitMenuProps {
  visit: Visit;
  /** Number of selected visits, including this one. */
  count: number;
  /** Its place on the screen. */
  place: { left: number; top: number; width: number; height: number };
  onMove: () => void;
  onChange: () => void;
  onClose: () => void;
}

export function VisitMenu({ visit, count, place, onMove, onChange, onClose }: VisitMenuProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayEdit = useMayEdit();
  const { site, customer } = visit;
  const openSite = () =>
    navigate({ to: '/data/$collection/$id', params: { collection: 'sites', id: visit.siteId } });
  return (
    <Menu
      withInitialFocusPlaceholder={false}
      opened
      onClose={onClose}
      position="bottom-start"
      shadow="md"
      width={280}
      withinPortal
    >
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          aria-label={site?.name}
          style={{ position: 'fixed', opacity: 0, pointerEvents: 'none', ...place }}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="site" size={16} />} onClick={openSite} title={t('visits.toSite')}>
          <Text size="sm" fw={600}>
            {site?.name}
          </Text>
          <Text size="xs">{customer?.companyName}</Text>
          {site && <Text size="xs">{addressText(site.address)}</Text>}
          <Text size="xs" className="numbers">
            {timesText(visit, visit.durationInMinutes)}
          </Text>
          <Marks visit={visit} />
        </Menu.Item>
        {mayEdit && (
          <>
            <Menu.Item leftSection={<Icon name="employee" size={16} />} onClick={onMove}>
              {count > 1 ? t('visits.move.many', { count }) : t('visits.move.action')}
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="calendar" size={16} />} onClick={onChange}>
              {t('visits.once.title')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
