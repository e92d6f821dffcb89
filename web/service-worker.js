// Keeps the app's files on the phone of somebody on the road. The build writes VERSION and FILES in front of this file.
// The page comes from the network while there is one: after an upgrade nobody sees the app of yesterday. Calls to the
// service pass by; web/src/road keeps what they answer.
/* global VERSION, FILES */

const cacheName = `stamm-${VERSION}`;
/** With a network that does not answer, nobody waits longer for the page. */
const slowMs = 4000;
const loadsAtOnce = 6;
const ownPrefixes = ['/api', '/app', '/docs', '/openapi.json', '/livez', '/readyz'];

self.addEventListener('install', (event) => {
  event.waitUntil(keepAll().then(() => self.skipWaiting()));
});

/** Continues where an earlier try broke off. Files of the version before are not loaded again. */
async function keepAll() {
  const cache = await caches.open(cacheName);
  const waiting = [...FILES];
  const work = async () => {
    for (let file = waiting.pop(); file; file = waiting.pop()) await keepFile(cache, file);
  };
  await Promise.all(Array.from({ length: loadsAtOnce }, work));
  await cache.put('/', await load(new Request('/', { headers: { Accept: 'text/html' }, cache: 'reload' })));
}

async function keepFile(cache, file) {
  if (await cache.match(file, { ignoreVary: true })) return;
  const kept = isAsset(file) && (await caches.match(file, { ignoreVary: true }));
  await cache.put(file, kept || (await load(file)));
}

async function load(request, tries = 3) {
  try {
    const answer = await fetch(request);
    if (!answer.ok) throw new Error(`The service answers ${answer.status}.`);
    return answer;
  } catch (error) {
    if (tries === 1) throw error;
    return load(request, tries - 1);
  }
}

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
  else if (isAsset(pathname)) event.respondWith(openAsset(request));
  else if (FILES.includes(pathname)) event.respondWith(openFile(request));
});

/** Its name changes with its content. */
function isAsset(pathname) {
  return pathname.startsWith('/assets/');
}

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
