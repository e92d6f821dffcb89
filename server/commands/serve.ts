import type { Command } from './command.ts';
import { listenUntilStopped, startBlock } from './listening.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'Run the service until it is stopped with Ctrl-C or SIGTERM.',
  options: {},
  async run({ config }) {
    await listenUntilStopped(config, async (listening) =>
      startBlock(listening, firstSteps(listening.origin)),
    );
    return undefined;
  },
};

function firstSteps(origin: string): string {
  return `Next, in another terminal: make a business and its key,
  npm run --silent stamm -- tenant create --name "Grün & Gut GmbH"
  npm run --silent stamm -- key create --tenant TENANT_ID

then send a first customer:
  curl ${origin}/api/v1/customer -H 'ApiKey: KEY' -H 'Content-Type: application/json' \\
    -d '{"companyName":"Hotel Alsterblick GmbH","address":{"streetName":"Ballindamm","houseNumber":"17a","zipCode":"20095","city":"Hamburg"}}'`;
}
