// Data on the phone: answers of the service by path, and changes that wait. It is in IndexedDB, where a page and its
// next start find the same.

export interface KeptAnswer {
  text: string;
  at: number;
}

const stores = ['answers', 'changes'] as const;
type StoreName = (typeof stores)[number];
const databaseName = 'stamm-road';

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(databaseName, 1);
    request.onupgradeneeded = () => {
      for (const store of stores) request.result.createObjectStore(store);
    };
    request.onsuccess = () => {
      // Another tab deletes everything.
      request.result.onversionchange = () => close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  }).catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function close(): Promise<void> {
  const database = await opened?.catch(() => undefined);
  opened = undefined;
  database?.close();
}

async function run<Result>(
  name: StoreName,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const database = await open();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(name, mode);
    const request = work(transaction.objectStore(name));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error ?? request.error);
  });
}

export function readOne<Value>(name: StoreName, key: string): Promise<Value | undefined> {
  return run<Value | undefined>(name, 'readonly', (store) => store.get(key));
}

export function readAll<Value>(name: StoreName): Promise<Value[]> {
  return run<Value[]>(name, 'readonly', (store) => store.getAll());
}

export async function writeOne(name: StoreName, key: string, value: unknown): Promise<void> {
  await run(name, 'readwrite', (store) => store.put(value, key));
}

export async function removeOne(name: StoreName, key: string): Promise<void> {
  await run(name, 'readwrite', (store) => store.delete(key));
}

export async function removeAll(name: StoreName): Promise<void> {
  await run(name, 'readwrite', (store) => store.clear());
}

export async function removeOldAnswers(before: number): Promise<void> {
  const database = await open();
  await new Promise<void>((resolve, reject) => {
    const transaction = database.transaction('answers', 'readwrite');
    const request = transaction.objectStore('answers').openCursor();
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return;
      if ((cursor.value as KeptAnswer).at < before) cursor.delete();
      cursor.continue();
    };
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Removes the whole database: nothing of it stays in the browser. */
export async function removeEverything(): Promise<void> {
  await close();
  await new Promise<void>((resolve) => {
    const request = indexedDB.deleteDatabase(databaseName);
    request.onsuccess = () => resolve();
    request.onerror = () => resolve();
    // Another tab closes it soon.
    request.onblocked = () => resolve();
  });
}
