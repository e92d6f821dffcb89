// The round on the phone: opened for the role Pflege, filled with today's and tomorrow's sites, and deleted with the
// session.
import type { QueryClient } from '@tanstack/react-query';
import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { call, readAnswersThrough, toApiError } from '../api/client.ts';
import type { Entity } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';
import { businessKeyOf, type Me, profileQuery } from '../api/session.ts';
import { dayVisitsQuery } from '../paper/day-visits.ts';
import { siteAppointmentsQuery } from '../visits/site-appointments.ts';
import { visitSettingsQuery } from '../visits/visits-query.ts';
import { forgetChanges, listChanges, loadChanges, sendChanges } from './changes.ts';
import { hasRunOut, noteOwedSignOut, owesSignOut, readHolder, writeHolder } from './phone.ts';
import { containersOfSiteQuery, plantsOfSiteQuery, roadSiteQuery } from './road-queries.ts';
import { isAway, keepAnswer, networkState, readThroughShelf } from './shelf.ts';
import { forgetShell, keepShell } from './shell.ts';
import { removeAll, removeEverything, removeOldAnswers } from './store.ts';

/** A phone that kept a round before reads it without network, before anybody can say who holds it. */
export function readFromPhone(): void {
  readAnswersThrough(readThroughShelf);
}

let running: { client: QueryClient; business: string } | undefined;

/** Opens the round for a signed-in person. Data of another person or business is deleted first. */
export async function openRoad(client: QueryClient, me: Me): Promise<void> {
  const business = businessKeyOf(me);
  if (running?.business === business) return;
  const holder = readHolder();
  const now = Date.now();
  if (holder && holder.personId !== me.person.id) await removeEverything();
  else if (holder && holder.business !== business) await removeAll('answers');
  const isSame = holder?.personId === me.person.id && !hasRunOut(holder);
  writeHolder({
    personId: me.person.id,
    business,
    since: isSame ? holder.since : now,
    answeredAt: networkState().isAway ? (holder?.answeredAt ?? now) : now,
  });
  const isFirst = running === undefined;
  running = { client, business };
  readFromPhone();
  await loadChanges();
  void keepShell();
  void work();
  if (isFirst) listen();
}

/** Ends the session at the service, or notes without network that it must. */
export async function signOut(): Promise<void> {
  try {
    await call('DELETE', '/session');
    noteOwedSignOut(false);
  } catch (error) {
    // Somebody else may have ended it.
    if (toApiError(error).status === 401) noteOwedSignOut(false);
    else if (isAway(error)) noteOwedSignOut(true);
    else throw error;
  }
}

/** Call it after the sign-out, or when the service says that nobody is signed in. */
export async function closeRoad(reason: 'signed-out' | 'ended'): Promise<void> {
  const holder = readHolder();
  running = undefined;
  readAnswersThrough((_path, read) => read());
  // Somebody who comes back after a weekend still has what was not sent. Nobody else can see it.
  if (reason === 'ended' && holder && hasRunOut(holder)) {
    await removeAll('answers').catch(() => {});
    return;
  }
  writeHolder(undefined);
  forgetChanges();
  await Promise.all([removeEverything(), forgetShell()]);
}

const [collectEveryMs, tryEveryMs] = [20 * 60_000, 15_000];
let collectedAt = 0;

function listen(): void {
  window.addEventListener('online', () => void work());
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void work());
  setInterval(() => {
    const isWaiting = listChanges().some(({ state }) => state === 'waiting');
    if (isWaiting || owesSignOut() || networkState().isAway) void work();
  }, tryEveryMs);
}

let working: Promise<void> | undefined;

/** Sends what waits, then looks for news. Only one call runs at a time. */
export function work(): Promise<void> {
  working ??= workOnce().finally(() => {
    working = undefined;
  });
  return working;
}

async function workOnce(): Promise<void> {
  if (!running) return owesSignOut() ? signOut() : undefined;
  const { client, business } = running;
  await sendChanges({ business, onArrived: (plant) => showPlant(client, plant) });
  const wasAway = networkState().isAway;
  const isDue = Date.now() - collectedAt > collectEveryMs;
  if (!isDue && !wasAway) return;
  try {
    await collect(client);
    collectedAt = networkState().isAway ? 0 : Date.now();
    if (wasAway && !networkState().isAway) await client.invalidateQueries();
  } catch {
    // The next try comes by itself.
  }
}

/** Shows the plant immediately. The page never shows the value before it again. */
function showPlant(client: QueryClient, plant: Entity): void {
  client.setQueriesData<Page<Entity>>(
    { queryKey: ['few', 'plants'] },
    (page) => page && { ...page, data: page.data.map((other) => (other.id === plant.id ? plant : other)) },
  );
  client.setQueryData(['record', 'plants', plant.id], plant);
  const isStale = ([kind, collection]: readonly unknown[]) =>
    collection === 'plants' || kind === 'history' || kind === 'latest';
  void client.invalidateQueries({ predicate: ({ queryKey }) => isStale(queryKey) });
}

const keptMs = 36 * 3_600_000;
/** Somebody without a round of their own sees everybody's. */
const maxSites = 100;

/** Fills the shelf with everything that the pages of today's and tomorrow's sites ask for. */
async function collect(client: QueryClient): Promise<void> {
  await call('GET', '/state');
  if (networkState().isAway) return;
  await Promise.all([
    call('GET', '/definitions'),
    client.fetchQuery({ ...visitSettingsQuery, staleTime: 0 }),
  ]);
  const { employeeId } = await client.fetchQuery({ ...profileQuery, staleTime: 0 });
  const today = todayIn(undefined);
  const siteIds = new Set<string>();
  for (const day of [today, fromDayNumber(toDayNumber(today) + 1)]) {
    const query = dayVisitsQuery(day, employeeId ?? undefined);
    for (const { siteId } of await client.fetchQuery({ ...query, staleTime: 0 })) siteIds.add(siteId);
  }
  const waiting = [...siteIds].slice(0, maxSites);
  const takeNext = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await collectSite(client, id);
  };
  await Promise.all([takeNext(), takeNext(), takeNext()]);
  await removeOldAnswers(Date.now() - keptMs);
}

async function collectSite(client: QueryClient, id: string): Promise<void> {
  const site = await client.fetchQuery({ ...roadSiteQuery(id), staleTime: 0 });
  const plants = await client.fetchQuery({ ...plantsOfSiteQuery(id), staleTime: 0 });
  await client.fetchQuery({ ...siteAppointmentsQuery(site), staleTime: 0 });
  const containers = await client.fetchQuery({ ...containersOfSiteQuery(id), staleTime: 0 });
  // A label leads to the page of a plant or container.
  for (const plant of plants.data) await keepAnswer(`/plants/${plant.id}`, JSON.stringify(plant));
  for (const container of containers.data)
    await keepAnswer(`/containers/${container.id}`, JSON.stringify(container));
}
