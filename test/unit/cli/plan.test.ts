import { describe, expect, it } from 'vitest';
import { fourPods } from '../../support/builders/raw.ts';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const OFFICE = { maxMoves: 0, schedule: '0 8 * * 1-5', duration: '10h', timeZone: 'Europe/Rome' };

/** Four pods of one core each on node a of two, at `takenAt`, with these budgets and this history. */
function input(takenAt: string, budgets: readonly unknown[], history: readonly unknown[] = []): string {
  const policy = policyObject('even', { load: { source: 'Requests' }, budgets });
  const items = [...fourPods(), ...history, policy];
  const metadata = { annotations: { 'evenkeel.dev/taken-at': takenAt } };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata, items });
}

async function planOf(...given: Parameters<typeof input>): Promise<string> {
  const { stdout, stderr } = await runCli(['plan', '-f', '-', '-o', 'wide'], input(...given));
  return stdout + stderr;
}

describe('evenkeel plan', () => {
  it('says until when a window lets nothing be moved, in its zone', async () => {
    const text = await planOf('2027-01-11T12:00:00Z', [{ maxMoves: 4 }, OFFICE]);
    expect(text).toContain('RefineLB: no moves until 18:00 Europe/Rome: budgets[1].');
    expect(text).toMatch(/MaxMoves +4/);
  });

  it('plans as ever while the window is closed, with what each move costs and the budgets that hold others', async () => {
    const text = await planOf('2027-01-11T17:00:00Z', [{ maxMoves: 1 }, OFFICE]);
    expect(text).toContain('1 move narrows the spread');
    expect(text).toMatch(/budgets? blocks? \d+ more pods?/);
    expect(text).toMatch(/COST.*\n.* 30 +ReplicaSet\/web/);
  });

  it('looks back on the plans that the file holds', async () => {
    const uid = 'ReplicaSet/default/web';
    const move = {
      pod: { namespace: 'default', name: 'web-0', uid: 'gone' },
      owner: { kind: 'ReplicaSet', name: 'web', uid },
      from: 'b',
      to: 'a',
    };
    const run = { podUID: 'gone', phase: 'Landed', startedAt: '2027-01-11T11:55:00Z', unavailableSeconds: 9 };
    const history = {
      apiVersion: 'evenkeel.dev/v1alpha1',
      kind: 'RebalancePlan',
      metadata: { name: 'even-1' },
      spec: { moves: [move] },
      status: { moves: [{ ...run, replacement: { uid: 'default/web-1', node: 'a' } }] },
    };
    expect(await planOf('2027-01-11T12:00:00Z', [{ maxMoves: 4 }])).toMatch(/moves? narrows? the spread/);
    expect(await planOf('2027-01-11T12:00:00Z', [{ maxMoves: 4 }], [history])).toContain(
      'pods of its controller came to a 300 s ago: cooldown for another 300 s',
    );
  });

  describe('with pods of namespaces that the files do not hold', () => {
    const plan = async (matchExpressions: readonly object[], labels?: object) => {
      const policy = policyObject('even', {
        load: { source: 'Requests' },
        scope: { namespaceSelector: { matchExpressions } },
      });
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels } };
      const items = [...fourPods(), policy, ...(labels === undefined ? [] : [namespace])];
      const metadata = { annotations: { 'evenkeel.dev/taken-at': '2027-01-11T17:00:00Z' } };
      return runCli(
        ['plan', '-f', '-', '-o', 'wide'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata, items }),
      );
    };

    it.each([
      [{ key: 'team', operator: 'NotIn', values: ['a'] }],
      [{ key: 'protected', operator: 'DoesNotExist' }],
      [{ key: 'team', operator: 'In', values: ['a'] }],
    ])('refuses a selector by labels, and names the namespaces: %j', async (expression) => {
      const { stdout, stderr, code } = await plan([expression]);
      expect(stderr).toBe(
        'error: RebalancePolicy even: spec.scope.namespaceSelector selects by labels, and the files hold no Namespace default: add what kubectl get namespaces -o yaml prints\n',
      );
      expect([stdout, code]).toEqual(['', 1]);
      expect((await plan([expression], { team: 'b' })).code).toBe(0);
    });

    it('knows their names', async () => {
      const byName = (operator: string) =>
        plan([{ key: 'kubernetes.io/metadata.name', operator, values: ['default'] }]);
      expect((await byName('In')).stdout).toContain('move narrows the spread');
      expect((await byName('NotIn')).stdout).not.toContain('move narrows the spread');
    });
  });

  it('refuses a policy whose window cannot be evaluated, wherever the policy comes from', async () => {
    const window = { ...OFFICE, schedule: '0 22-2 * * *' };
    expect(await planOf('2027-01-11T12:00:00Z', [window])).toContain(
      'error: RebalancePolicy even: spec.budgets[0].schedule: schedule "0 22-2 * * *" is not a cron expression that can be used: From value is larger',
    );
  });
});
