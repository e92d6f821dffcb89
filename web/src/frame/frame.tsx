// The frame of the office: navigation at the side, the page beside it.
import { ActionIcon, Burger } from '@mantine/core';
import { useDisclosure, useHotkeys, useWindowEvent } from '@mantine/hooks';
import { lazyRouteComponent, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMayEdit, useMe } from '../api/session.ts';
import { Icon } from '../icons.tsx';
import { SearchButtonProps } from '../search/search-button.tsx';
import { withTexts } from '../texts/language.ts';
import classes from './frame.module.css';
import { PageLoading } from './loading.tsx';
import { Logo } from './logo.tsx';
import { Navigation } from './navigation.tsx';
import { TestBand } from './test-band.tsx';

const SearchDialog = lazyRouteComponent(
  withTexts(['search'], () => import('../search/search-dialog.tsx')),
  'SearchDialog',
);
const Shortcuts = lazyRouteComponent(
  withTexts(['search'], () => import('../search/shortcuts.tsx')),
  'Shortcuts',
);
const OpenRecordDeletion = lazyRouteComponent(
  () => import('../search/open-record-deletion.tsx'),
  'OpenRecordDeletion',
);
const RoadBar = lazyRouteComponent(
  withTexts(['road'], () => import('../road/road-bar.tsx')),
  'RoadBar',
);
const RoadBand = lazyRouteComponent(
  withTexts(['road'], () => import('../road/road-bar.tsx')),
  'RoadBand',
);
/** Loads before the click or the second key of Ctrl+K. */
const preloadSearch = () => SearchDialog.preload?.();
const buttonIntent = { onPointerEnter: preloadSearch, onFocus: preloadSearch };

export function Frame() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const [isSearching, search] = useDisclosure();
  const [work, setWork] = useState<'delete' | 'shortcuts'>();
  const { pathname } = useLocation();
  const { isInTestBusiness } = useMe();
  const isOnRoad = !useMayEdit();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  // A table's own field takes "/" for itself.
  const openByKey = () => document.querySelector('[data-table-search]') === null && search.open();
  useHotkeys([['/', openByKey]]);
  useHotkeys([['mod+K', search.open]], []);

  /** Typed after the search was opened, before its field was there. */
  const early = useRef('');
  useWindowEvent('keydown', ({ key, ctrlKey, metaKey, target }) => {
    if (key === 'Control' || key === 'Meta') preloadSearch();
    const isTyped = key.length === 1 && !ctrlKey && !metaKey;
    const isElsewhere = !(target as Element).closest?.('input, textarea');
    if (key === '?' && !isSearching && isElsewhere) setWork('shortcuts');
    if (isSearching && isTyped && isElsewhere) early.current += key;
  });
  const takeEarly = () => {
    const text = early.current;
    early.current = '';
    return text;
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the page changes, also to the same kind of page.
  useEffect(() => {
    close();
    // Moves the focus of keyboards and screen readers to the new page.
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <SearchButtonProps value={{ onClick: search.open, ...buttonIntent }}>
      <div
        className={classes.frame}
        data-open={isOpen || undefined}
        data-test={isInTestBusiness || undefined}
        data-road={isOnRoad || undefined}
      >
        <a href="#content" className="skip-link">
          {t('app.skip')}
        </a>
        {isInTestBusiness && <TestBand />}
        <header className={classes.header}>
          <Burger
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label={t('app.menu')}
            aria-expanded={isOpen}
            aria-controls="navigation"
          />
          <Logo size={24} />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            ml="auto"
            aria-label={t('search.title')}
            onClick={search.open}
            {...buttonIntent}
          >
            <Icon name="search" size={20} />
          </ActionIcon>
        </header>
        <aside className={classes.navbar} id="navigation" aria-label="Stamm">
          <Navigation />
        </aside>
        <main id="content" ref={main} tabIndex={-1} className={classes.main}>
          {isOnRoad && (
            <Suspense>
              <RoadBand />
            </Suspense>
          )}
          <Suspense fallback={<PageLoading />}>
            <Outlet />
          </Suspense>
        </main>
        {isOnRoad && (
          <Suspense>
            <RoadBar />
          </Suspense>
        )}
        {isSearching && (
          <Suspense>
            <SearchDialog takeEarly={takeEarly} onDo={setWork} onClose={search.close} />
          </Suspense>
        )}
        <Suspense>
          {work === 'shortcuts' && <Shortcuts onClose={() => setWork(undefined)} />}
          {work === 'delete' && <OpenRecordDeletion onClose={() => setWork(undefined)} />}
        </Suspense>
      </div>
    </SearchButtonProps>
  );
}
