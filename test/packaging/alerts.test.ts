// The alerts that Stamm brings, tried by Prometheus's own tool.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { promtool, withoutPromtool } from '../helpers/programs.ts';

const rules = path.resolve(import.meta.dirname, '../../packaging/alerts.yml');
const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
after(() => rm(folder, { recursive: true }));

function runPromtool(...words: string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool!, words, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
}

const target = '{job="stamm",instance="one"}';

/** What a healthy node shows, once per minute for two hours, and what differs. */
function series(changes: Record<string, string> = {}) {
  const healthy = {
    up: '1x120',
    stamm_info: '1x120',
    stamm_postgres_up: '1x120',
    stamm_ready: '1x120',
    stamm_start_time_seconds: '1000x120',
    stamm_backup_files: '14x120',
    stamm_backup_age_seconds: '3600x120',
    stamm_upkeep_age_seconds: '60x120',
    stamm_webhook_oldest_seconds: '0x120',
  };
  return Object.entries({ ...healthy, ...changes }).map(([name, values]) => ({
    series: `${name}${target}`,
    values,
  }));
}

const dead = Object.fromEntries(series().map(({ series: name }) => [name.split('{')[0]!, '1x10 _x110']));

describe('the alerts', { skip: withoutPromtool }, () => {
  test('are rules that Prometheus reads', () => runPromtool('check', 'rules', rules));

  const cases: [what: string, input: ReturnType<typeof series>, firing: string[]][] = [
    ['a healthy node', series(), []],
    ['a dead node', series({ ...dead, up: '1x10 0x110' }), ['StammDown']],
    ['a target that nobody scrapes', [], ['StammDown']],
    ['a database that is away', series({ stamm_postgres_up: '1x10 0x110' }), ['StammDatabaseAway']],
    [
      'a folder of backups that was emptied',
      series({ stamm_backup_files: '14x10 1x110' }),
      ['StammBackupsVanished'],
    ],
    ['no backup yet', series({ stamm_backup_age_seconds: '999999999x120' }), ['StammBackupOld']],
  ];
  for (const [what, input, firing] of cases) {
    test(`${what}: ${firing.join(', ') || 'none'}`, async () => {
      // As a series of its own, an alert is compared without the words for people.
      const expected = firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
      const question = 'count by (alertname) (ALERTS{alertstate="firing"})';
      const content = {
        rule_files: [rules],
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: input,
            promql_expr_test: [{ expr: question, eval_time: '75m', exp_samples: expected }],
          },
        ],
      };
      const file = path.join(folder, 'cases.json');
      await writeFile(file, JSON.stringify(content));
      runPromtool('test', 'rules', file);
    });
  }
});
