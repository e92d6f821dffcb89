// The clock of the machine jumps under load. Nothing is lost, doubled or invented, and the journal has no gaps.
import assert from 'node:assert/strict';
import path from 'node:path';
import { withoutFaketime, withoutPostgres15 } from '../../helpers/programs.ts';
import { makeClock } from '../helpers/clock.ts';
import { initializePostgres, makeServerDir, startPostgres } from '../helpers/debian-postgres.ts';
import { generous } from '../helpers/deployments.ts';
import { assertAnswered, createdSince, tryFault } from '../helpers/matrix.ts';
import { createTenant, databaseUrl, startStamm, withClient } from '../helpers/process.ts';

tryFault({
  name: 'clock jumps',
  skip: withoutFaketime || withoutPostgres15,
  async deploy() {
    const folder = await makeServerDir();
    const clock = await makeClock(folder);
    const data = path.join(folder, 'data');
    initializePostgres(folder, data);
    const { connection } = await startPostgres(folder, data, clock.env);
    const service = await startStamm({ ...generous, ...clock.env, DATABASE_URL: databaseUrl(connection) });
    const tenant = await withClient(connection, createTenant);
    const close = async () => assert.equal((await service.stop()).code, 0);
    return { ...tenant, origin: service.origin, connection, clock, close };
  },
  async strike({ clock }, load, random) {
    for (let jump = 0; jump < 3; jump++) {
      await clock.set(`${random() < 0.5 ? '-' : '+'}${Math.round(7200 * random())}`);
      await createdSince(load, performance.now());
    }
  },
  // PostgreSQL's time limits follow this clock: a jump ahead ends statements, which is answered with `overloaded`.
  check: assertAnswered,
});
