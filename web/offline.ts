// Writes the service worker with the list of files that it keeps.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';

/** Files of web/public that the page names. */
const publicFiles = ['/icon.svg', '/color-scheme.js', '/manifest.webmanifest', '/icons/192.png'];
/** Tiles, the reader of imported files: nobody on the road needs them. */
const largestBytes = 500_000;
const wantedFonts = /inter-latin(-ext)?-wght-normal/;

export function offlineShell(): Plugin {
  return {
    name: 'offline-shell',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const source = readFileSync(path.join(import.meta.dirname, 'service-worker.js'), 'utf8');
      const files = Object.values(bundle)
        .filter((file) => {
          const content = file.type === 'chunk' ? file.code : file.source;
          const isWanted = /\.(js|css)$/.test(file.fileName) || wantedFonts.test(file.fileName);
          return isWanted && file.fileName.startsWith('assets/') && content.length <= largestBytes;
        })
        .map(({ fileName }) => `/${fileName}`)
        .sort();
      const list = JSON.stringify([...publicFiles, ...files]);
      // The page follows from the names of its files.
      const version = createHash('sha256').update(list).update(source).digest('hex').slice(0, 16);
      this.emitFile({
        type: 'asset',
        fileName: 'service-worker.js',
        source: `const VERSION = '${version}';\nconst FILES = ${list};\n${source}`,
      });
    },
  };
}
