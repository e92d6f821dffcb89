// The main navigation. A new page gets its line here and its route in router.tsx.
import {
  Avatar,
  Button,
  Divider,
  Group,
  Popover,
  Stack,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, lazyRouteComponent, useLocation, useRouter } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { pluralOf, useDefinitions } from '../api/definitions.ts';
import { attentionOverviewQuery, countOfEntries } from '../api/records.ts';
import { enterTestBusiness, useIsAdministrator, useMayEdit, useMe } from '../api/session.ts';
import { forgetDrafts } from '../forms/drafts.ts';
import { Icon, type IconName, resourceIcon } from '../icons.tsx';
import { readHolder } from '../road/phone.ts';
import { SearchButton } from '../search/search-button.tsx';
import { withTexts } from '../texts/language.ts';
import classes from './frame.module.css';
import { Logo } from './logo.tsx';
import { tellFailure } from './notices.tsx';
import { Preferences } from './preferences.tsx';

const UnsentQuestion = lazyRouteComponent(
  withTexts(['road'], () => import('../road/unsent-question.tsx')),
  'UnsentQuestion',
);

export function Navigation() {
  const { t } = useTranslation();
  const { business } = useMe();
  const isAdministrator = useIsAdministrator();
  const mayEdit = useMayEdit();
  const { pathname } = useLocation();
  const nav = useRef<HTMLElement>(null);
  // A low window does not show all entries.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address has another current page.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [pathname]);
  return (
    <>
      <Stack className={classes.brand} gap={10}>
        <Link to="/" aria-label={`Stamm: ${t('navigation.home')}`} style={{ textDecoration: 'none' }}>
          <Logo />
        </Link>
        <Text size="sm" c="dimmed" truncate>
          {business.name}
        </Text>
      </Stack>
      <div className={classes.search}>
        <SearchButton>{t('search.title')}</SearchButton>
      </div>
      <nav ref={nav} className={classes.links} aria-label={t('navigation.label')}>
        <NavigationLink to="/" icon="home" isExact>
          {t('navigation.home')}
        </NavigationLink>
        <NavigationLink to="/visits" icon="calendar">
          {t('navigation.visits')}
        </NavigationLink>
        <NavigationLink to="/map" icon="map">
          {t('navigation.map')}
        </NavigationLink>
        <NavigationLink to="/day-sheet" icon="printer">
          {t('daySheet.title')}
        </NavigationLink>
        <div className={classes.section}>{t('navigation.data')}</div>
        {useDefinitions().map((definition) => (
          <NavigationLink
            key={definition.name}
            to={`/data/${definition.collection}`}
            icon={resourceIcon(definition.name)}
          >
            {pluralOf(definition)}
          </NavigationLink>
        ))}
        <div className={classes.section}>{t('navigation.work')}</div>
        <NavigationLink to="/attention" icon="attention">
          {t('navigation.attention')}
          <AttentionCount />
        </NavigationLink>
        {mayEdit && (
          <>
            <NavigationLink to="/import" icon="import">
              {t('navigation.import')}
            </NavigationLink>
            {isAdministrator && (
              <NavigationLink to="/requests" icon="requests">
                {t('navigation.requests')}
              </NavigationLink>
            )}
            <NavigationLink to="/recent" icon="history">
              {t('navigation.recent')}
            </NavigationLink>
            <NavigationLink to="/bin" icon="trash">
              {t('navigation.bin')}
            </NavigationLink>
          </>
        )}
        <NavigationLink to="/settings" icon="settings">
          {t('navigation.settings')}
        </NavigationLink>
      </nav>
      <div className={classes.account}>
        <AccountMenu />
      </div>
    </>
  );
}

interface LinkProps {
  to: string;
  icon: IconName;
  isExact?: boolean;
  children: ReactNode;
}

function NavigationLink({ to, icon, isExact = false, children }: LinkProps) {
  return (
    <Link to={to} className={classes.link} activeOptions={{ exact: isExact, includeSearch: false }}>
      <Icon name={icon} />
      {children}
    </Link>
  );
}

function AttentionCount() {
  const { t } = useTranslation();
  const { data: overview } = useQuery(attentionOverviewQuery);
  const words = countOfEntries(overview);
  if (!overview || !words) return null;
  const { count, isComplete } = overview;
  return (
    <span className={classes.count}>
      <span aria-hidden="true">{words}</span>
      <VisuallyHidden>
        {t(isComplete ? 'navigation.attentionCount' : 'navigation.attentionAtLeast', {
          count: Math.min(count, 99),
        })}
      </VisuallyHidden>
    </span>
  );
}

function AccountMenu() {
  const { t } = useTranslation();
  const { person, hasTestBusiness, isInTestBusiness } = useMe();
  const enter = useMutation({ mutationFn: enterTestBusiness, onError: tellFailure });
  const router = useRouter();
  const client = useQueryClient();
  const signOut = useMutation({
    mutationFn: async () => {
      if (!readHolder()) return await call('DELETE', '/session');
      const road = await import('../road/road.ts');
      await road.signOut();
      // It would not load any more where there is no network.
      await router.loadRouteChunk(router.routesById['/sign-in']);
      return await road.closeRoad('signed-out');
    },
    onSuccess: async () => {
      forgetDrafts(person.id);
      client.clear();
      await router.navigate({ to: '/sign-in' });
    },
    onError: tellFailure,
  });
  const [unsent, setUnsent] = useState(0);
  const askBefore = async () => {
    const count = readHolder() ? (await import('../road/changes.ts')).listChanges().length : 0;
    if (count === 0) signOut.mutate();
    else setUnsent(count);
  };
  return (
    <>
      {unsent > 0 && (
        <Suspense>
          <UnsentQuestion
            count={unsent}
            onConfirm={() => signOut.mutateAsync()}
            onClose={() => setUnsent(0)}
          />
        </Suspense>
      )}
      <Popover width={264} position="top-start" shadow="md" trapFocus>
        <Popover.Target>
          <UnstyledButton className={classes.person}>
            <Group gap="sm" wrap="nowrap">
              <Avatar name={person.name} color="leaf" size={34} radius="xl" alt="" />
              <Stack gap={0} className={classes.fill}>
                <Text size="sm" fw={550} truncate>
                  {person.name}
                </Text>
                <Text size="xs" c="dimmed">
                  {t(`roles.${person.role}`)}
                </Text>
              </Stack>
              <Icon name="dots" />
            </Group>
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('navigation.account')}>
          <Preferences />
          <Divider my="sm" />
          {hasTestBusiness && !isInTestBusiness && (
            <Button
              fullWidth
              variant="subtle"
              color="gray"
              justify="flex-start"
              leftSection={<Icon name="code" />}
              loading={enter.isPending}
              onClick={() => enter.mutate()}
            >
              {t('testBusiness.enter')}
            </Button>
          )}
          <Button
            fullWidth
            variant="subtle"
            color="gray"
            justify="flex-start"
            leftSection={<Icon name="signOut" />}
            loading={signOut.isPending}
            onClick={() => void askBefore()}
          >
            {t('navigation.signOut')}
          </Button>
        </Popover.Dropdown>
      </Popover>
    </>
  );
}
