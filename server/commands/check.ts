import { checkConsistency } from '../features/consistency/consistency.ts';
import { resources } from '../resources/index.ts';
import { asOperator, type Command } from './command.ts';

const check: Command = {
  name: 'check',
  summary: 'Compare what is stored with itself: journal, versions, references, search words.',
  options: {},
  async run({ config }) {
    const findings = await asOperator(config, (client) => checkConsistency(client, resources));
    const isConsistent = findings.every(({ count }) => count === 0);
    const lines = findings.flatMap(({ check, count, examples }) =>
      count === 0
        ? [`✓ ${check}`]
        : [
            `✗ ${check}: ${count.toLocaleString('en')} disagree`,
            ...examples.map((example) => `    ${example}`),
          ],
    );
    return {
      text: lines.join('\n'),
      json: { ok: isConsistent, findings },
      exitCode: isConsistent ? 0 : 1,
    };
  },
};

export const commands: readonly Command[] = [check];
