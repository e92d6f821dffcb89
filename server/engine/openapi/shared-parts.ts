// Moves the parts that operations repeat into the document's components, which keeps operations readable.

type Part = Record<string, unknown>;

interface Operation {
  parameters?: Part[];
  responses: Record<string, Part & { headers?: Record<string, Part>; content?: Record<string, Part> }>;
  requestBody?: { content: Record<string, Part> };
}

export interface DocumentParts {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, unknown>;
}

const responseNames: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  204: 'NoContent',
  304: 'NotModified',
  400: 'ValidationFailed',
  401: 'NotAuthenticated',
  403: 'NotPermitted',
  404: 'NotFound',
  409: 'Conflict',
  412: 'VersionMismatch',
  413: 'ContentTypeInvalid',
  415: 'PayloadTooLarge',
  422: 'IdempotencyKeyReused',
  429: 'TooManyRequests',
  500: 'InternalError',
};

interface Place {
  kind: 'headers' | 'examples' | 'parameters' | 'responses';
  name: string;
  /** First step of the path, such as "sites". */
  collection: string;
  part: Part;
  replace(reference: Part): void;
}

/** Inner parts first: a response is shared with references to its headers and examples. */
export function shareParts<Document extends DocumentParts>(document: Document): Document {
  for (const find of [findInnerParts, findOuterParts]) {
    const places = Object.entries(document.paths).flatMap(([path, operations]) => {
      const collection = /^\/api\/v1\/([^/.]+)/.exec(path)?.[1] ?? '';
      return Object.values(operations).flatMap((operation) =>
        find(operation).map((place) => ({ ...place, collection })),
      );
    });
    for (const kind of ['headers', 'examples', 'parameters', 'responses'] as const)
      sharePlaces(document, kind, places);
  }
  return document;
}

type Found = Omit<Place, 'collection'>;

function findInnerParts({ responses, requestBody }: Operation): Found[] {
  const contents = [requestBody, ...Object.values(responses)].flatMap((holder) =>
    Object.values(holder?.content ?? {}),
  );
  return [
    ...Object.values(responses).flatMap(({ headers }) => membersOf('headers', headers)),
    ...contents.flatMap(({ examples }) => membersOf('examples', examples as Record<string, Part>)),
  ];
}

function findOuterParts({ parameters = [], responses }: Operation): Found[] {
  return [
    ...parameters.map((part, index) => ({
      kind: 'parameters' as const,
      name: String(part.name),
      part,
      replace: (reference: Part) => parameters.splice(index, 1, reference),
    })),
    ...membersOf('responses', responses).map((found) => ({
      ...found,
      name: responseNames[found.name] ?? `Status${found.name}`,
    })),
  ];
}

function membersOf(kind: Place['kind'], members: Record<string, Part> = {}): Found[] {
  return Object.entries(members).map(([name, part]) => ({
    kind,
    name,
    part,
    replace: (reference) => {
      members[name] = reference;
    },
  }));
}

function sharePlaces(document: DocumentParts, kind: Place['kind'], all: readonly Place[]): void {
  const places = all.filter((place) => place.kind === kind);
  const repeated = [...Map.groupBy(places, ({ part }) => JSON.stringify(part)).values()].filter(
    (same) => same.length > 1,
  );
  if (repeated.length === 0) return;
  const shared: Record<string, Part> = {};
  for (const same of repeated) {
    const name = freeName(shared, same);
    shared[name] = same[0]!.part;
    for (const { replace } of same) replace({ $ref: `#/components/${kind}/${name}` });
  }
  document.components[kind] = Object.fromEntries(
    Object.entries(shared).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** "Limit" where all collections share it, "SitesSort" where one has its own. */
function freeName(taken: object, [first, ...others]: readonly Place[]): string {
  const isOwn = others.every(({ collection }) => collection === first!.collection);
  const plain = toPascalCase(first!.name);
  const base = isOwn ? toPascalCase(first!.collection) + plain : plain;
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}${count}`;
    if (!(name in taken)) return name;
  }
}

function toPascalCase(name: string): string {
  return name.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
