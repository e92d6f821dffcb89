// Every page of the app, and what must hold before it is shown.
import { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import {
  type ApiError,
  showTestBusiness,
  toApiError,
  unreachable,
  whenPasskeyIsRequired,
  whenSessionEnds,
} from './api/client.ts';
import { definitionsQuery } from './api/definitions.ts';
import { sessionQuery, stateQuery } from './api/session.ts';
import { NotFoundPage, PageFailure } from './frame/failure.tsx';
import { PageLoading } from './frame/loading.tsx';
import { noteOwedSignOut, owesSignOut, readHolder } from './road/phone.ts';
import { withTexts } from './texts/language.ts';

const patientSeconds = 10;

/** Do not retry rejected requests, unless the service is busy or gave no answer. */
function triesAfter({ status, code, retryAfterSeconds }: ApiError): number {
  const isBusy = code === 'overloaded' || code === 'too_many_at_once' || code === 'shutting_down';
  if (isBusy && (retryAfterSeconds ?? 1) <= patientSeconds) return 5;
  return status === 0 ? 2 : 0;
}

/** Loaded for the role Pflege, and where somebody of it has used this browser. */
const loadRoad = () => import('./road/road.ts');

export const queryClient = new QueryClient({
  defaultOptions: {
    // A browser that believes to be without network is often wrong, and the road has answers without.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 10_000,
      retry: (count, error) => count < triesAfter(toApiError(error)),
      retryDelay: (count, error) => 1000 * (toApiError(error).retryAfterSeconds ?? 2 ** count),
    },
  },
});

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/sign-in.tsx')),
    'SignInPage',
  ),
});
const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/welcome.tsx')),
    'WelcomePage',
  ),
});
const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/setup.tsx')),
    'SetupPage',
  ),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/invitation.tsx')),
    'InvitationPage',
  ),
});
const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot',
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/forgot.tsx')),
    'ForgotPage',
  ),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/reset.tsx')),
    'ResetPage',
  ),
});

const requiredPasskey = createRoute({
  getParentRoute: () => root,
  path: '/required-passkey',
  beforeLoad: async ({ context }) => {
    const { me } = await context.queryClient.fetchQuery({ ...stateQuery, staleTime: 0 });
    if (!me?.needsPasskey) throw redirect({ to: '/' });
    context.queryClient.setQueryData(sessionQuery.queryKey, me);
  },
  component: lazyRouteComponent(
    withTexts(['access'], () => import('./start/required-passkey.tsx')),
    'RequiredPasskeyPage',
  ),
});

/** Everything inside the frame needs somebody who is signed in. */
const office = createRoute({
  getParentRoute: () => root,
  id: 'office',
  beforeLoad: async ({ context, location }) => {
    if (!context.queryClient.getQueryData(sessionQuery.queryKey)) {
      if (owesSignOut()) await (await loadRoad()).signOut();
      if (owesSignOut()) throw unreachable();
      if (readHolder()) (await loadRoad()).readFromPhone();
      const { hasPeople, me } = await context.queryClient.fetchQuery(stateQuery);
      if (!me && readHolder()) await (await loadRoad()).closeRoad('ended');
      if (!hasPeople) throw redirect({ to: '/welcome' });
      if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
      context.queryClient.setQueryData(sessionQuery.queryKey, me);
    }
    // Whoever is here now has signed in since.
    noteOwedSignOut(false);
    const me = context.queryClient.getQueryData(sessionQuery.queryKey);
    showTestBusiness(me?.isInTestBusiness ?? false);
    if (me?.needsPasskey) throw redirect({ to: '/required-passkey' });
    if (me?.person.role === 'PFLEGE') void loadRoad().then((road) => road.openRoad(context.queryClient, me));
    else if (readHolder()) await (await loadRoad()).closeRoad('signed-out');
    await context.queryClient.ensureQueryData(definitionsQuery);
  },
  component: lazyRouteComponent(() => import('./frame/frame.tsx'), 'Frame'),
});

const home = createRoute({
  getParentRoute: () => office,
  path: '/',
  component: lazyRouteComponent(() => import('./home/home.tsx'), 'HomePage'),
});
const table = createRoute({
  getParentRoute: () => office,
  path: '/data/$collection',
  component: lazyRouteComponent(() => import('./tables/table-page.tsx'), 'TablePage'),
});
const creation = createRoute({
  getParentRoute: () => office,
  path: '/data/$collection/new',
  component: lazyRouteComponent(() => import('./forms/form-page.tsx'), 'CreationPage'),
});
const record = createRoute({
  getParentRoute: () => office,
  path: '/data/$collection/$id',
  component: lazyRouteComponent(
    withTexts(['visits'], () => import('./records/record-page.tsx')),
    'RecordPage',
  ),
});
const scan = createRoute({
  getParentRoute: () => office,
  path: '/scan',
  component: lazyRouteComponent(
    withTexts(['road'], () => import('./road/scan-page.tsx')),
    'ScanPage',
  ),
});
const editing = createRoute({
  getParentRoute: () => office,
  path: '/data/$collection/$id/edit',
  component: lazyRouteComponent(() => import('./forms/form-page.tsx'), 'EditingPage'),
});
const siteSheet = createRoute({
  getParentRoute: () => office,
  path: '/data/sites/$id/sheet',
  component: lazyRouteComponent(() => import('./paper/site-sheet.tsx'), 'SiteSheetPage'),
});
const daySheet = createRoute({
  getParentRoute: () => office,
  path: '/day-sheet',
  component: lazyRouteComponent(
    withTexts(['visits'], () => import('./paper/day-sheet.tsx')),
    'DaySheetPage',
  ),
});
const weekSheet = createRoute({
  getParentRoute: () => office,
  path: '/week-sheet',
  component: lazyRouteComponent(
    withTexts(['visits'], () => import('./paper/week-sheet.tsx')),
    'WeekSheetPage',
  ),
});
const labels = createRoute({
  getParentRoute: () => office,
  path: '/labels/$collection',
  component: lazyRouteComponent(() => import('./paper/labels-page.tsx'), 'LabelsPage'),
});
const merge = createRoute({
  getParentRoute: () => office,
  path: '/data/$collection/$id/merge',
  component: lazyRouteComponent(() => import('./merging/merge-page.tsx'), 'MergePage'),
});
const attention = createRoute({
  getParentRoute: () => office,
  path: '/attention',
  component: lazyRouteComponent(() => import('./attention/attention-page.tsx'), 'AttentionPage'),
});
const visits = createRoute({
  getParentRoute: () => office,
  path: '/visits',
  component: lazyRouteComponent(
    withTexts(['visits'], () => import('./visits/visits-page.tsx')),
    'VisitsPage',
  ),
});
const arrange = createRoute({
  getParentRoute: () => office,
  path: '/arrange',
  component: lazyRouteComponent(
    withTexts(['visits'], () => import('./visits/arrange-page.tsx')),
    'ArrangePage',
  ),
});
const map = createRoute({
  getParentRoute: () => office,
  path: '/map',
  component: lazyRouteComponent(() => import('./map/map-page.tsx'), 'MapPage'),
});
const requests = createRoute({
  getParentRoute: () => office,
  path: '/requests',
  component: lazyRouteComponent(
    withTexts(['requests'], () => import('./call-log/requests-page.tsx')),
    'RequestsPage',
  ),
});
const correction = createRoute({
  getParentRoute: () => office,
  path: '/requests/$id/correct',
  component: lazyRouteComponent(
    withTexts(['requests'], () => import('./call-log/correction-page.tsx')),
    'CorrectionPage',
  ),
});
const bin = createRoute({
  getParentRoute: () => office,
  path: '/bin',
  component: lazyRouteComponent(() => import('./bin/bin-page.tsx'), 'BinPage'),
});
const recent = createRoute({
  getParentRoute: () => office,
  path: '/recent',
  component: lazyRouteComponent(
    withTexts(['import'], () => import('./recent/recent-page.tsx')),
    'RecentPage',
  ),
});
const importing = createRoute({
  getParentRoute: () => office,
  path: '/import',
  component: lazyRouteComponent(
    withTexts(['import'], () => import('./import/import-page.tsx')),
    'ImportPage',
  ),
});
const settings = createRoute({
  getParentRoute: () => office,
  path: '/settings',
  component: lazyRouteComponent(
    withTexts(['settings'], () => import('./settings/settings-frame.tsx')),
    'SettingsFrame',
  ),
});
const profile = createRoute({
  getParentRoute: () => settings,
  path: '/',
  component: lazyRouteComponent(
    withTexts(['access', 'settings'], () => import('./settings/profile.tsx')),
    'ProfilePage',
  ),
});
const people = createRoute({
  getParentRoute: () => settings,
  path: '/people',
  component: lazyRouteComponent(
    withTexts(['access', 'settings'], () => import('./settings/people.tsx')),
    'PeoplePage',
  ),
});
const api = createRoute({
  getParentRoute: () => settings,
  path: '/api',
  component: lazyRouteComponent(
    withTexts(['settings'], () => import('./settings/api.tsx')),
    'ApiPage',
  ),
});
const visitSettings = createRoute({
  getParentRoute: () => settings,
  path: '/visits',
  component: lazyRouteComponent(
    withTexts(['settings', 'visits'], () => import('./settings/visits-page.tsx')),
    'VisitSettingsPage',
  ),
});
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  component: lazyRouteComponent(
    withTexts(['settings', 'visits'], () => import('./settings/audit/audit-page.tsx')),
    'AuditPage',
  ),
});
const backups = createRoute({
  getParentRoute: () => settings,
  path: '/backups',
  component: lazyRouteComponent(
    withTexts(['settings'], () => import('./settings/backups-page.tsx')),
    'BackupsPage',
  ),
});

/** Inside the frame: a wrong address keeps the navigation. */
const unknown = createRoute({ getParentRoute: () => office, path: '$', component: NotFoundPage });

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    welcome,
    setup,
    invitation,
    requiredPasskey,
    forgot,
    reset,
    office.addChildren([
      home,
      table,
      creation,
      record,
      scan,
      editing,
      siteSheet,
      daySheet,
      weekSheet,
      labels,
      merge,
      attention,
      visits,
      arrange,
      map,
      requests,
      correction,
      importing,
      bin,
      recent,
      settings.addChildren([profile, people, api, visitSettings, audit, backups]),
      unknown,
    ]),
  ]),
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFailure,
  defaultNotFoundComponent: () => (
    <main>
      <NotFoundPage />
    </main>
  ),
  scrollRestoration: true,
  // Search parameters are plain texts here; the default would write them as JSON.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const query = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]));
    return query.size > 0 ? `?${query}` : '';
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

whenSessionEnds(() => {
  if (readHolder()) void loadRoad().then((road) => road.closeRoad('ended'));
  const { pathname, href } = router.state.location;
  if (pathname === '/sign-in' || !queryClient.getQueryData(sessionQuery.queryKey)) return;
  // A form with unsaved changes may block the navigation. Keep its data until the page is left.
  router.navigate({ to: '/sign-in', search: { to: href, ended: 'true' } }).then(() => {
    if (router.state.location.pathname === '/sign-in') queryClient.clear();
  });
});

whenPasskeyIsRequired(() => {
  if (router.state.location.pathname !== '/required-passkey') router.navigate({ to: '/required-passkey' });
});
