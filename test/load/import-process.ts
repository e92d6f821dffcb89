// The service in a process of its own, so that its memory can be measured apart from the test's.
import { pino } from 'pino';
import { buildApp } from '../../server/app/app.ts';
import { readConfig } from '../../server/config.ts';
import { openDatabase } from '../../server/database/database.ts';
import { listen } from '../helpers/raw-client.ts';

const database = openDatabase(JSON.parse(process.argv[2]!), { maxConnections: 4 });
const app = await buildApp(readConfig({}), database, pino({ level: 'silent' }));
const port = await listen(app);
process.on('message', () => process.send!({ port, maxRssBytes: process.resourceUsage().maxRSS * 1024 }));
process.on('disconnect', () => process.exit());
