// Who may use which route below /app: the rights of the three roles, in one place.
import type { FastifyInstance } from 'fastify';
import type { Definition } from '../engine/definition/definition.ts';
import type { Role } from './people.ts';

/** `PUBLIC` needs no session. `OFFICE` are Verwaltung and Büro, who keep the data. */
export type Access = 'PUBLIC' | 'EVERYBODY' | 'OFFICE' | 'VERWALTUNG';

type Rights = readonly [read: Access, change: Access];

const isPublic: Rights = ['PUBLIC', 'PUBLIC'];
/** About themselves. */
const own: Rights = ['EVERYBODY', 'EVERYBODY'];
/** Pflege reads it. Fields that Pflege changes are named by the definition (`careFields`). */
const data: Rights = ['EVERYBODY', 'OFFICE'];
const office: Rights = ['OFFICE', 'OFFICE'];
const verwaltung: Rights = ['VERWALTUNG', 'VERWALTUNG'];

/** By the first step of the path below /app. Decision 122 gives the reasons. */
const rightsByArea: Readonly<Record<string, Rights>> = {
  state: isPublic,
  setup: isPublic,
  invitation: isPublic,
  reset: isPublic,
  'password-reset': isPublic,
  calendar: isPublic,
  session: own,
  sessions: own,
  password: own,
  profile: own,
  passkeys: own,
  'recovery-codes': own,
  proof: own,
  views: own,
  definitions: own,
  attention: data,
  changes: data,
  counts: data,
  history: data,
  map: data,
  named: data,
  search: data,
  'visit-sums': data,
  visits: data,
  'calendar-feeds': office,
  'choice-matches': office,
  deleted: office,
  'duplicate-matches': office,
  import: office,
  imports: office,
  'name-matches': office,
  'recent-actions': office,
  'remembered-choices': office,
  'remembered-names': office,
  tables: office,
  'visit-settings': ['EVERYBODY', 'VERWALTUNG'],
  audit: verwaltung,
  backups: verwaltung,
  business: verwaltung,
  checklist: verwaltung,
  invitations: verwaltung,
  key: verwaltung,
  'passkey-requirement': verwaltung,
  people: verwaltung,
  'personal-data': verwaltung,
  requests: verwaltung,
  'test-business': verwaltung,
  webhooks: verwaltung,
};

const accessByRoute: Readonly<Record<string, Access>> = {
  'POST /session': 'PUBLIC',
  'POST /session/passkey': 'PUBLIC',
  'POST /session/passkey/options': 'PUBLIC',
  'POST /session/second-factor': 'PUBLIC',
  'POST /test-business/enter': 'EVERYBODY',
  'POST /test-business/leave': 'EVERYBODY',
};

const rolesByAccess: Readonly<Record<Exclude<Access, 'PUBLIC'>, readonly Role[]>> = {
  EVERYBODY: ['VERWALTUNG', 'BUERO', 'PFLEGE'],
  OFFICE: ['VERWALTUNG', 'BUERO'],
  VERWALTUNG: ['VERWALTUNG'],
};

/** A route without rights is nobody's. */
export function isAllowed(role: Role, access: Access | undefined): boolean {
  return access === 'PUBLIC' || (access !== undefined && rolesByAccess[access].includes(role));
}

/** Throws for a route that the table does not name: a new one is never open by mistake. */
export function addRouteRights(app: FastifyInstance, prefix: string, resources: readonly Definition[]): void {
  const steps = resources.flatMap(({ path, collection }) => [path.split('/')[1]!, collection]);
  const areas: Record<string, Rights> = {
    ...Object.fromEntries(steps.map((step) => [step, data])),
    ...rightsByArea,
  };
  app.addHook('onRoute', (route) => {
    const path = route.url.slice(prefix.length);
    const [, area, file] = /^\/([^/.]+)(\.[^/]+)?/.exec(path) ?? [];
    const rights = areas[area ?? ''];
    if (!rights) throw new Error(`No rights are known for ${route.url}. Add them to route-rights.ts.`);
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD');
    const [read, change] = rights;
    const usual = isRead ? read : change;
    // A file holds everything that a list hides from Pflege.
    const ofFile = file && usual === 'EVERYBODY' ? 'OFFICE' : usual;
    const access = accessByRoute[`${route.method} ${path}`] ?? ofFile;
    route.config = { ...route.config, access };
  });
}
