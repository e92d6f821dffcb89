import { type Listening, listenUntilStopped, startBlock } from '../process/service.ts';
import { program } from '../program.ts';
import type { Command } from './command.ts';

const serve: Command = {
  name: 'serve',
  summary: 'Run the service until it is stopped with Ctrl-C or SIGTERM.',
  options: {},
  async run({ config }) {
    await listenUntilStopped(config, async (listening) => startBlock(listening, nextSteps(listening)));
    return undefined;
  },
};

export const commands: readonly Command[] = [serve];

function nextSteps({ origin, setupLink }: Listening): string {
  if (!setupLink) return `Sign in at ${origin}/`;
  return `Next, set up your business: open this link. It works once, and until the service stops.
  ${setupLink}

Or without the web app, in another terminal: make a business and its key,
  ${program} tenant create --name "Grün & Gut GmbH"
  ${program} key create --tenant TENANT_ID

then send a first customer:
  curl ${origin}/api/v1/customer -H 'ApiKey: KEY' -H 'Content-Type: application/json' \\
    -d '{"companyName":"Hotel Alsterblick GmbH","address":{"streetName":"Ballindamm","houseNumber":"17a","zipCode":"20095","city":"Hamburg"}}'`;
}
