import { defineConfig } from 'vite';
import { collectWorkerPackages, thirdPartyNotices } from './notices.ts';
import { offlineShell } from './offline.ts';
import { writeEurope, writeWaters } from './outline.ts';
import { writePlaces } from './places.ts';

writeEurope();
writeWaters();
writePlaces();

export default defineConfig({
  root: import.meta.dirname,
  plugins: [thirdPartyNotices(), offlineShell()],
  worker: { plugins: () => [collectWorkerPackages()] },
  build: {
    // Browsers that know light-dark(); older ones would need a second set of every colour.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // A file inside the page would be a data: address, which the content security policy does not allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        // Dozens of tiny files compress badly: what every page needs is one file, and what several share another.
        codeSplitting: {
          groups: [
            {
              name: 'framework',
              test: /node_modules\/(react|react-dom|scheduler|i18next|react-i18next|@tanstack)\//,
              priority: 2,
            },
            // A group takes along what its files import: first the calendar that every page needs.
            {
              name: 'calendar-rules',
              test: /core\/(calendar\/(calendar-days|opening-hours|visits|visit-status)|definition\/shape|pace)\.ts/,
              priority: 4,
            },
            {
              name: 'visit-plan',
              test: /core\/calendar\/(holidays|visit-plan|visit-moves)\.ts|visits\/site-plan/,
              priority: 3,
            },
            { name: 'shared', minShareCount: 12, priority: 1 },
          ],
        },
      },
    },
  },
});
