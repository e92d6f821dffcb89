// Shows backups to Verwaltung, without folders and reasons of failures: other businesses share them.
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { isBesideData } from './schedule.ts';

export type BackupConfig = Pick<Config, 'BACKUP_DIR' | 'BACKUP_EVERY' | 'DATA_DIR'>;

interface LastBackup {
  madeAt: Date | null;
  bytes: number | null;
  failedAt: Date | null;
}

export async function backupRoutes(
  app: FastifyInstance,
  { config, database }: { config: BackupConfig; database: Database },
) {
  app.get('/backups', async () => {
    const { rows } = await database.pool.query<LastBackup>(
      'SELECT made_at AS "madeAt", bytes::float8 AS bytes, failed_at AS "failedAt" FROM last_backup()',
    );
    return {
      ...rows[0]!,
      everyHours: config.BACKUP_DIR === undefined ? null : config.BACKUP_EVERY,
      isBesideData: isBesideData(config),
    };
  });
}
