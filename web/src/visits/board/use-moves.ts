// Moves visits one after the other, says what happened, and offers to take it back.
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { type Entity, useDefinition } from '../../api/definitions.ts';
import { useForgetReadings } from '../../api/records.ts';
import { tell, tellFailure } from '../../frame/notices.tsx';
import { patchBack } from '../../records/earlier-state.ts';
import { formatDay } from '../../texts/format.ts';
import type { Visit } from '../visits-query.ts';
import { planFromNow, planOnce, type Target } from './moves.ts';

export type When = 'once' | 'fromNow';

type Undo = () => Promise<unknown>;

/** Names of people for the notice afterwards. */
export interface NamedTarget extends Target {
  employeeName?: string | undefined;
}

/** Sites of visits, which are in one request up to the number of ids that a list takes. */
const idsPerRequest = 300;

export async function readSites(visits: readonly Visit[]): Promise<Map<string, Entity>> {
  const ids = [...new Set(visits.map(({ siteId }) => siteId))];
  const sites = new Map<string, Entity>();
  for (let from = 0; from < ids.length; from += idsPerRequest) {
    const id = ids.slice(from, from + idsPerRequest).join(',');
    const page = await call<{ data: Entity[] }>('GET', `/sites?limit=${idsPerRequest}&id=${id}`);
    for (const site of page.data) sites.set(site.id, site);
  }
  return sites;
}

export function useMoves() {
  const { t } = useTranslation();
  const appointments = useDefinition('appointments')!;
  const sites = useDefinition('sites')!;
  const forgetReadings = useForgetReadings();

  const moveOnce = useCallback(
    async (visit: Visit, target: Target): Promise<Undo | undefined> => {
      const plan = planOnce(visit, target);
      if ('obstacle' in plan) return undefined;
      if (!visit.appointmentId) {
        const body = { siteId: visit.siteId, plannedDate: visit.movedFrom ?? visit.date, ...plan.body };
        const { id } = await call<{ id: string }>('POST', appointments.path, { body });
        return () => call('DELETE', `/appointments/${id}`, { version: 1 });
      }
      return change(appointments, visit.appointmentId, plan.body);
    },
    [appointments],
  );

  const moveFromNow = useCallback(
    async (site: Entity, visits: readonly Visit[], target: Target): Promise<Undo | undefined> => {
      const plan = planFromNow(site, visits, target);
      return 'obstacle' in plan ? undefined : change(sites, site.id, plan.body);
    },
    [sites],
  );

  return useCallback(
    async (visits: readonly Visit[], target: NamedTarget, when: When) => {
      const undos: Undo[] = [];
      let [moved, failure]: [Visit[], unknown] = [[], undefined];
      const note = (undo: Undo | undefined, own: readonly Visit[]) => {
        if (!undo) return;
        undos.unshift(undo);
        moved = [...moved, ...own];
      };
      try {
        if (when === 'once') {
          // An appointment replaces all visits of its planned day.
          const one = new Map(
            visits.map((visit) => [
              `${visit.siteId} ${visit.appointmentId ?? visit.movedFrom ?? visit.date}`,
              visit,
            ]),
          );
          for (const visit of one.values()) note(await moveOnce(visit, target), [visit]);
        } else {
          const read = await readSites(visits);
          for (const [id, own] of Map.groupBy(visits, ({ siteId }) => siteId))
            if (read.has(id)) note(await moveFromNow(read.get(id)!, own, target), own);
        }
      } catch (error) {
        failure = error;
      }
      await forgetReadings();
      if (moved.length > 0) {
        const what = [
          target.day &&
            formatDay(
              target.day,
              when === 'once' ? { weekday: 'short', day: 'numeric', month: 'numeric' } : { weekday: 'long' },
            ),
          target.employeeName,
        ];
        const values = {
          what: what.filter(Boolean).join(', '),
          who: moved.length === 1 ? moved[0]!.site?.name : t('visits.count', { count: moved.length }),
        };
        tell(t(`visits.move.done.${when}`, values), {
          label: t('undo.undo'),
          run: async () => {
            for (const undo of undos) await undo();
            await forgetReadings();
            tell(t('undo.done'));
          },
        });
      }
      if (failure) tellFailure(failure);
    },
    [moveOnce, moveFromNow, forgetReadings, t],
  );
}

type Definition = NonNullable<ReturnType<typeof useDefinition>>;

async function change(definition: Definition, id: string, body: Record<string, unknown>): Promise<Undo> {
  const path = `/${definition.collection}/${id}`;
  const before = await call<Entity>('GET', path);
  const after = await call<Entity>('PATCH', path, { body, version: before.version });
  const back = patchBack(definition, before, after);
  return () => call('PATCH', path, { body: back, version: after.version });
}
