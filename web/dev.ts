// npm run dev: the service restarts when a server file changes, Vite reloads the page when a file of the web app does.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createServer } from 'vite';

const servicePort = process.env.PORT ?? '3000';
const root = import.meta.dirname;

const service = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'server/main.ts', 'serve'], {
  cwd: path.resolve(root, '..'),
  stdio: 'inherit',
  env: { ...process.env, PORT: servicePort, WORKERS: '1' },
});

const target = `http://127.0.0.1:${servicePort}`;
const vite = await createServer({
  configFile: path.join(root, 'vite.config.ts'),
  server: {
    proxy: Object.fromEntries(['/app', '/api', '/docs', '/openapi.json'].map((from) => [from, target])),
  },
});
await vite.listen();
vite.printUrls();

async function stop(): Promise<void> {
  service.kill('SIGTERM');
  await vite.close();
}
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
service.once('exit', (code) => {
  void vite.close().then(() => process.exit(code ?? 0));
});
