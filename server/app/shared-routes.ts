// Everything that is stored, as routes: the same below /api/v1 and below /app.
import type { FastifyInstance } from 'fastify';
import { eraseEndedKeyUse } from '../access/key-use.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { addResourceRoutes } from '../engine/http/resource-routes.ts';
import { attentionRoutes } from '../features/attention/attention-routes.ts';
import { KeptFindings } from '../features/attention/kept-findings.ts';
import { eraseReasons } from '../features/attention/left-entry-routes.ts';
import type { BackupConfig } from '../features/backup/backup-routes.ts';
import { binRoutes } from '../features/bin/bin-routes.ts';
import { eraseRecordedCalls } from '../features/call-log/recorded-calls.ts';
import { changeRoutes } from '../features/changes/changes-routes.ts';
import { noteImport } from '../features/checklist/checklist-routes.ts';
import { importRoutes } from '../features/import/import-routes.ts';
import type { OpenSession } from '../features/import/session/import-transaction.ts';
import { eraseFileNames } from '../features/import-undo/import-list-routes.ts';
import { erasePlaceNames } from '../features/map/proposals.ts';
import type { MapConfig } from '../features/map/tile-routes.ts';
import { mergeRoutes } from '../features/merging/merge-routes.ts';
import { eraseRememberedNames } from '../features/name-matches/name-match-routes.ts';
import { eraseRememberedChoices } from '../features/name-matches/remembered-choices.ts';
import { personalDataRoutes } from '../features/personal-data/personal-data-routes.ts';
import { searchRoutes } from '../features/search/search-routes.ts';
import { workbookRoutes } from '../features/tables/table-routes.ts';
import { eraseFromViews } from '../features/views/view-routes.ts';
import { visitRoutes } from '../features/visits/visit-routes.ts';
import { eraseAnswers } from '../features/webhooks/deliveries.ts';
import type { OutgoingConfig } from '../features/webhooks/outgoing-request.ts';
import type { InFlightLimit } from '../http/in-flight-limit.ts';
import { resources } from '../resources/index.ts';

/** Parts that the API and the office share. */
export interface SharedOptions {
  config: Pick<
    Config,
    'BODY_LIMIT_BYTES' | 'FAILED_AUTH_LIMIT_PER_MINUTE' | 'PUBLIC_URL' | 'RATE_LIMIT_PER_MINUTE'
  > &
    BackupConfig &
    MapConfig &
    OutgoingConfig;
  database: Database;
  findings: KeptFindings;
  inFlight: InFlightLimit;
  openImport: OpenSession;
}

export function openFindings(): KeptFindings {
  return new KeptFindings(resources);
}

/** The routes of everything that is stored. They need `addBodyRules`. */
export async function addSharedRoutes(
  scope: FastifyInstance,
  { config, database, findings, openImport }: SharedOptions,
): Promise<void> {
  for (const definition of resources) addResourceRoutes(scope, definition, resources, database);
  await scope.register(workbookRoutes, { database, resources });
  await scope.register(changeRoutes, { database, resources });
  await scope.register(binRoutes, { database, resources });
  await scope.register(mergeRoutes, { database, resources });
  await scope.register(attentionRoutes, { database, resources, findings });
  await scope.register(searchRoutes, { database, resources });
  await scope.register(visitRoutes, { database });
  await scope.register(personalDataRoutes, {
    database,
    resources,
    eraseTraces: async (client, tenantId, { texts, harmlessWords }) => {
      await eraseAnswers(client, tenantId);
      await eraseReasons(client, tenantId);
      await eraseFileNames(client, tenantId);
      await eraseRememberedNames(client, tenantId);
      await eraseRememberedChoices(client, tenantId);
      await eraseFromViews(client, tenantId, texts.redact);
      await erasePlaceNames(client, tenantId, texts.patterns);
      await eraseEndedKeyUse(client, tenantId, texts.patterns);
      await eraseRecordedCalls(client, tenantId, harmlessWords);
    },
  });
  await scope.register(importRoutes, {
    openImport,
    resources,
    maxLineBytes: config.BODY_LIMIT_BYTES,
    onImport: (tenantId) => void noteImport(database, tenantId),
  });
}
