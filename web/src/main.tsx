import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.css';
import './styles.css';
import './print.css';
import './frame/printing.ts';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { AskedDialogs } from './dialogs/asking.tsx';
import { Notices } from './frame/notices.tsx';
import { queryClient, router } from './router.tsx';
import { startTexts } from './texts/language.ts';
import { theme } from './theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
// Set the nonce where the library that stops scrolling behind a dialog looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const colorSchemeManager = localStorageColorSchemeManager({ key: 'stamm-color-scheme' });

await startTexts();
createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemeManager}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <AskedDialogs />
        <Notices />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
