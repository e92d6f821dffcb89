// Keeps the app's files on the phone of somebody on the road. The build writes VERSION and FILES in front of this file.
// The page comes from the network while there is one: after an upgrade nobody sees the app of yesterday. Calls to the
// service pass by; web/src/road keeps what they answer.
/* global VERSION, FILES */

const cacheName = `stamm-${VERSION}`;
/** With a network that does not answer, nobody waits longer for the page. */
const slowMs = 4000;
const ownPrefixes = ['/api', '/app', '/docs', '/openapi.json', '/livez', '/readyz'];

self.addEventListener('install', (event) => {
  const keep = async () => {
    const cache = await caches.open(cacheName);
    await cache.addAll(FILES);
    const page = new Request('/', { headers: { Accept: 'text/html' }, cache: 'reload' });
    await cache.put('/', await fetch(page));
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener('activate', (event) => {
  const tidy = async () => {
    // Open pages may still load parts of the version before.
    const names = (await caches.keys()).filter((name) => name.startsWith('stamm-') && name !== cacheName);
    for (const name of names.slice(0, -1)) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (ownPrefixes.some((prefix) => pathname === prefix || pathname.startsWith(`${prefix}/`))) return;
  if (request.mode === 'navigate') event.respondWith(openPage(request));
  // Its name changes with its content.
  else if (pathname.startsWith('/assets/')) event.respondWith(openAsset(request));
  else if (FILES.includes(pathname)) event.respondWith(openFile(request));
});

async function openPage(request) {
  const keptPage = async () => (await caches.open(cacheName)).match('/');
  const late = new Promise((resolve) => setTimeout(resolve, slowMs)).then(keptPage);
  const asked = fetch(request).then(async (answer) => {
    // A proxy answers for a service that restarts.
    if (answer.status >= 500) throw new Error('The service is away.');
    return answer;
  });
  const orKept = asked.catch(async (error) => {
    const kept = await keptPage();
    if (kept) return kept;
    throw error;
  });
  return (await Promise.race([orKept, late])) ?? orKept;
}

async function openAsset(request) {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

async function openFile(request) {
  return fetch(request).catch(async () => {
    const kept = await caches.match(request, { ignoreVary: true });
    return kept ?? Response.error();
  });
}
