// The package as it is installed: ES modules and CommonJS with types, and no dependencies. Vite makes it, so an installation
// without development packages can. The same sources give the same bytes on every node.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { build, transformWithOxc } from 'vite';
import { writeTar } from './tar.ts';

const folder = import.meta.dirname;
const sources = path.join(folder, 'src');

export async function packClient(): Promise<Buffer> {
  const files = new Map<string, string>([
    ['package.json', packageFile()],
    ['README.md', readFileSync(path.join(folder, 'README.md'), 'utf8')],
    ['LICENSE', readFileSync(path.join(folder, '../LICENSE'), 'utf8')],
    ['dist/index.js', await bundle('src/index.ts', 'es')],
    ['dist/index.cjs', await bundle('src/index.ts', 'cjs')],
    ['dist/stamm.js', await bundle('bin/stamm.ts', 'es')],
    ...(await declarations()),
  ]);
  const inFolder = [...files].map(([name, content]) => [`package/${name}`, content] as const);
  return promisify(gzip)(writeTar(inFolder), { level: 9 });
}

/** The version is that of the service. */
function packageFile(): string {
  const read = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const { devDependencies: _devDependencies, ...own } = read('package.json');
  return `${JSON.stringify({ ...own, version: read('../package.json').version }, undefined, 2)}\n`;
}

async function bundle(entry: string, format: 'es' | 'cjs'): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: path.join(folder, entry), formats: [format] },
      rolldownOptions: { external: /^node:/ },
    },
  });
  return (built as { output: { code: string }[] }[])[0]!.output[0]!.code;
}

/** One for each way of importing: a CommonJS program may not import the types of an ES module. */
async function declarations(): Promise<[name: string, content: string][]> {
  const made = await Promise.all(
    readdirSync(sources)
      .sort()
      .map(async (name) => {
        const source = readFileSync(path.join(sources, name), 'utf8');
        const options = { typescript: { declaration: {} } };
        const { declaration } = await transformWithOxc(source, path.join(sources, name), options);
        const file = path.basename(name, '.ts');
        const importing = (extension: string) =>
          declaration!.replaceAll(/(["']\.\/[\w-]+)\.ts(["'])/g, `$1.${extension}$2`);
        return [
          [`dist/${file}.d.ts`, importing('js')],
          [`dist/${file}.d.cts`, importing('cjs')],
        ] as [string, string][];
      }),
  );
  return made.flat();
}
