// The frame of the office: navigation at the side, the page beside it.
import { Burger } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './frame.module.css';
import { PageLoading } from './loading.tsx';
import { Logo } from './logo.tsx';
import { Navigation } from './navigation.tsx';

export function Frame() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the page changes, also to the same kind of page.
  useEffect(() => {
    close();
    // Moves the focus of keyboards and screen readers to the new page.
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <div className={classes.frame} data-open={isOpen || undefined}>
      <a href="#content" className="skip-link">
        {t('app.skip')}
      </a>
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
      </header>
      <aside className={classes.navbar} id="navigation" aria-label="Stamm">
        <Navigation />
      </aside>
      <main id="content" ref={main} tabIndex={-1} className={classes.main}>
        <Suspense fallback={<PageLoading />}>
          <Outlet />
        </Suspense>
      </main>
    </div>
  );
}
