// Positions that the geocoder proposes. Nothing is replaced before somebody has seen and accepted it.
import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { distanceInKm } from '../../../core/place/route.ts';
import { call } from '../api/client.ts';
import { useForgetReadings } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Icon } from '../icons.tsx';
import { formatNumber } from '../texts/format.ts';
import classes from './proposals.module.css';
import type { Position } from './view.ts';

interface Proposal extends Position {
  siteId: string;
  name: string;
  version: number;
  streetName: string;
  houseNumber: string;
  zipCode: string;
  city: string;
  foundAs: string;
  approximatePosition: Position | null;
}

const proposalsQuery = queryOptions({
  queryKey: ['proposals'],
  queryFn: ({ signal }) => call<{ data: Proposal[]; total: number }>('GET', '/map/proposals', { signal }),
  staleTime: 30_000,
});

export function Proposals({ onShow }: { onShow: (position: Position) => void }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const forgetReadings = useForgetReadings();
  const { data } = useQuery(proposalsQuery);
  const decide = useMutation({
    mutationFn: async ({ proposals, isAccepted }: { proposals: Proposal[]; isAccepted: boolean }) => {
      for (const proposal of proposals) await (isAccepted ? accept(proposal) : reject(proposal));
    },
    // Refresh after a failure too: the proposals before it are done.
    onSettled: () => forgetReadings(),
  });
  if (!data || data.total === 0) return null;
  return (
    <div className={classes.section}>
      <Card
        title={t('map.proposals', { count: data.total, formatted: formatNumber(data.total) })}
        icon="map"
        actions={
          mayEdit && (
            <Button
              size="compact-sm"
              variant="light"
              loading={decide.isPending}
              onClick={() => decide.mutate({ proposals: data.data, isAccepted: true })}
            >
              {t('map.acceptShown', { count: data.data.length, formatted: formatNumber(data.data.length) })}
            </Button>
          )
        }
      >
        <Text size="sm" c="dimmed" mb="sm">
          {t('map.proposalsText')}
        </Text>
        {decide.error && <FailureNote error={decide.error} />}
        <ul className={classes.list}>
          {data.data.map((proposal) => (
            <li key={proposal.siteId} className={classes.row}>
              <Place proposal={proposal} />
              <Group gap={6} wrap="nowrap">
                <ActionIcon
                  variant="default"
                  size={30}
                  aria-label={t('map.showProposal', { name: proposal.name })}
                  onClick={() => onShow(proposal)}
                >
                  <Icon name="search" size={16} />
                </ActionIcon>
                {mayEdit && (
                  <>
                    <Button
                      size="compact-sm"
                      variant="default"
                      disabled={decide.isPending}
                      aria-label={t('map.rejectProposal', { name: proposal.name })}
                      onClick={() => decide.mutate({ proposals: [proposal], isAccepted: false })}
                    >
                      {t('map.reject')}
                    </Button>
                    <Button
                      size="compact-sm"
                      disabled={decide.isPending}
                      aria-label={t('map.acceptProposal', { name: proposal.name })}
                      onClick={() => decide.mutate({ proposals: [proposal], isAccepted: true })}
                    >
                      {t('map.accept')}
                    </Button>
                  </>
                )}
              </Group>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

/** The address, what the geocoder found, and how far that is from where the map shows the site now. */
function Place({ proposal }: { proposal: Proposal }) {
  const { t } = useTranslation();
  const { siteId, name, streetName, houseNumber, zipCode, city, foundAs, approximatePosition } = proposal;
  const degrees = (value: number) => formatNumber(value, { maximumFractionDigits: 5 });
  const metres = approximatePosition && distanceInKm(approximatePosition, proposal) * 1000;
  const distance =
    metres === null
      ? t('map.beforeNone')
      : metres < 1000
        ? t('map.beforeAway', { distance: `${formatNumber(Math.round(metres / 10) * 10)} m` })
        : t('map.beforeAway', {
            distance: `${formatNumber(metres / 1000, { maximumFractionDigits: 1 })} km`,
          });
  return (
    <div className={classes.place}>
      <AnchorLink to={`/data/sites/${siteId}`}>{name}</AnchorLink>
      <span>
        {`${streetName} ${houseNumber}`.trim()}, {zipCode} {city}
      </span>
      <small>
        {t('map.proposed')}:{' '}
        <span className="numbers">{`${degrees(proposal.lat)}; ${degrees(proposal.lng)}`}</span>
        {foundAs && ` (${foundAs})`} · {distance}
      </small>
    </div>
  );
}

/** A site that somebody has changed meanwhile stays as it is. */
async function accept({ siteId, version, lat, lng }: Proposal): Promise<void> {
  await call('PATCH', `/sites/${siteId}`, { body: { address: { location: { lat, lng } } }, version });
}

async function reject({ siteId }: Proposal): Promise<void> {
  await call('POST', `/map/proposals/${siteId}/rejection`);
}
