// npm run dev: a changed server file restarts the service, a changed web file reloads the page.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createLogger, createServer } from 'vite';

const servicePort = process.env.PORT ?? '3000';
const root = import.meta.dirname;

// A call during a restart fails in the page, too: a stack trace per call says no more.
const logger = createLogger();
const logError = logger.error;
logger.error = (message, options) => {
  if (!message.includes('http proxy error')) logError(message, options);
};

const target = `http://127.0.0.1:${servicePort}`;
const vite = await createServer({
  configFile: path.join(root, 'vite.config.ts'),
  customLogger: logger,
  server: {
    proxy: Object.fromEntries(['/app', '/api', '/docs', '/openapi.json'].map((from) => [from, target])),
    // The service builds the web app at its start. These files are not the page that Vite serves.
    watch: { ignored: ['**/dist/**', '**/dist.*/**'] },
  },
});
await vite.listen();
vite.printUrls();

const service = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'server/main.ts', 'serve'], {
  cwd: path.resolve(root, '..'),
  stdio: 'inherit',
  env: {
    // The setup link leads to the page that reloads.
    PUBLIC_URL: vite.resolvedUrls?.local[0]?.replace(/\/$/, ''),
    ...process.env,
    PORT: servicePort,
    WORKERS: '1',
  },
});

async function stop(): Promise<void> {
  service.kill('SIGTERM');
  await vite.close();
}
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
service.once('exit', (code) => {
  void vite.close().then(() => process.exit(code ?? 0));
});
