// The methods that the paths of a scope take, for callers who used another one.
import type { FastifyInstance } from 'fastify';

/** Call before the routes are added. The result finds the methods of an address, none for an unknown path. */
export function collectMethods(scope: FastifyInstance): (url: string) => string[] {
  const methods = new Map<string, Set<string>>();
  scope.addHook('onRoute', ({ method, url }) => {
    const known = methods.getOrInsertComputed(url, () => new Set());
    for (const one of [method].flat()) if (one !== 'HEAD') known.add(one);
  });
  return (url) => {
    const steps = url.split('?', 1)[0]!.split('/');
    const matching = [...methods].filter(([path]) => matches(path.split('/'), steps));
    return [...new Set(matching.flatMap(([, known]) => [...known]))].sort();
  };
}

function matches(path: readonly string[], steps: readonly string[]): boolean {
  return (
    path.length === steps.length &&
    path.every((step, index) => (step.startsWith(':') ? steps[index] !== '' : step === steps[index]))
  );
}
