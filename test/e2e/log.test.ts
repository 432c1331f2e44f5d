import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { LOG_LINES } from '../../src/log-lines.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { demoPolicy, untilQuiet } from '../demo/rebalance.ts';
import { type LoggedLine, readLog } from '../support/log-file.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
/** How long the operator is watched at rest; 600 for a longer look. */
const REST_SECONDS = Number(process.env['EVENKEEL_REST_SECONDS'] ?? 30);

interface KubernetesEvent {
  readonly reason: string;
  readonly reportingController: string;
  readonly regarding: { readonly name: string; readonly uid: string };
  readonly note: string;
}

let cp: ControlPlane;
let operator: OperatorProcess;
let lines: readonly LoggedLine[];
let events: readonly KubernetesEvent[];
let audit: readonly AuditEvent[];
let plans: readonly RebalancePlan[];
let startedAt: string;

beforeAll(async () => {
  cp = await startControlPlane({ log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  await waitForMetrics(cp, { log });
  startedAt = new Date().toISOString();
  operator = await startOperator(cp);
  await cp.apply([demoPolicy('RefineLB')]);
  await untilQuiet(cp, log);
  lines = readLog(operator.log());
  const listed = JSON.parse(await cp.kubectl(['get', 'events.events.k8s.io', '-A', '-o', 'json'])) as {
    readonly items: readonly KubernetesEvent[];
  };
  events = listed.items.filter(({ reportingController }) => reportingController === 'evenkeel.dev/operator');
  audit = (await cp.audit()).filter(({ at }) => at >= startedAt);
  plans = await getPlans(cp);
}, 900_000);

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** A field of all lines with this message, sorted. */
function logged(message: string, field: string): readonly string[] {
  return lines
    .filter(({ msg }) => msg === message)
    .map((line) => String(line[field]))
    .toSorted();
}

/** UIDs that events with this reason are about, sorted. */
function reported(reason: string): readonly string[] {
  return events
    .filter((event) => event.reason === reason)
    .map(({ regarding }) => regarding.uid)
    .toSorted();
}

describe('the log of a plan that was carried out', () => {
  it('has only lines and fields of the vocabulary, ISO times and names of levels, and nothing above info', () => {
    expect(lines.length).toBeGreaterThan(10);
    for (const { time, level, msg, ...fields } of lines) {
      expect(Object.keys(LOG_LINES)).toContain(msg);
      const { fields: known } = LOG_LINES[msg];
      expect({ msg, unknown: Object.keys(fields).filter((each) => !known.includes(each as never)) }).toEqual({
        msg,
        unknown: [],
      });
      expect({ msg, level }).toEqual({ msg, level: 'info' });
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  });

  it('has the evictions of the audit log and of the events, all of them and no others', () => {
    const evicted = logged('pod evicted', 'podUID');
    expect(evicted.length).toBeGreaterThan(3);
    expect(
      acceptedEvictions(audit)
        .map(({ uidPrecondition }) => uidPrecondition ?? '')
        .toSorted(),
    ).toEqual(evicted);
    expect(reported('MoveStarted')).toEqual(evicted);
    const pods = acceptedEvictions(audit).map(({ namespace, name }) => `${namespace}/${name}`);
    expect(pods.toSorted()).toEqual(logged('pod evicted', 'pod'));
  });

  it('has the landings and misses of the events, and the replacements that the scheduler has bound since', () => {
    for (const [message, reason] of [
      ['move landed', 'MoveLanded'],
      ['move missed', 'MoveMissed'],
      ['move skipped', 'MoveSkipped'],
    ] as const) {
      expect({ message, pods: logged(message, 'podUID') }).toEqual({ message, pods: reported(reason) });
    }
    const bound = audit.filter(
      ({ resource, subresource, code }) => resource === 'pods' && subresource === 'binding' && code === 201,
    );
    const replacements = [...logged('move landed', 'replacement'), ...logged('move missed', 'replacement')];
    expect(replacements.length).toBe(logged('pod evicted', 'pod').length);
    expect(bound.map(({ namespace, name }) => `${namespace}/${name}`).toSorted()).toEqual(replacements.toSorted());
  });

  it('says where each replacement runs', async () => {
    const evicted = logged('pod evicted', 'pod'); // a later plan may have moved a replacement on
    const landed = lines.filter(
      ({ msg, replacement }) => msg === 'move landed' && !evicted.includes(String(replacement)),
    );
    expect(landed.length).toBeGreaterThan(3);
    for (const { replacement, to } of landed) {
      const [namespace = '', name = ''] = String(replacement).split('/');
      const node = await cp.kubectl(['get', 'pod', '-n', namespace, name, '-o', 'jsonpath={.spec.nodeName}']);
      expect(`${name} on ${node}`).toBe(`${name} on ${to}`);
    }
  });

  it('has every plan with its event, its end and what was written of it', () => {
    const names = plans.map(({ metadata }) => metadata.name).toSorted();
    expect(logged('plan computed', 'plan')).toEqual(names);
    expect(logged('plan finished', 'plan')).toEqual(names);
    const computed = events.filter(({ reason }) => reason === 'PlanComputed');
    expect(computed.map(({ note }) => /^plan (\S+):/.exec(note)?.[1]).toSorted()).toEqual(names);
    const written = audit.filter(
      ({ user, verb, resource }) => user === OPERATOR_USER && verb === 'patch' && resource === 'rebalanceplans',
    );
    expect([...new Set(written.map(({ name }) => name))].toSorted()).toEqual(names);
    for (const { metadata, status } of plans) {
      const line = lines.find(({ msg, plan }) => msg === 'plan finished' && plan === metadata.name);
      expect(line).toMatchObject({ phase: status?.phase, result: status?.message });
    }
  });

  it('has the runs of the status, each of which the audit log has stored', async () => {
    const { status } = await getPolicy(cp, 'demo');
    const runs = readLog(operator.log()).filter(({ msg }) => msg === 'run finished');
    const told = runs.map(({ outcome, moves, plan }) => ({ outcome, moves, plan }));
    const history = (status?.history ?? []).map(({ outcome, moves, plan }) => ({ outcome, moves, plan })).reverse();
    expect(told.slice(-history.length)).toEqual(history);
    const writes = audit.filter(
      ({ user, resource, subresource, code }) =>
        user === OPERATOR_USER && resource === 'rebalancepolicies' && subresource === 'status' && code === 200,
    );
    const first = lines.filter(({ msg }) => msg === 'run finished');
    for (const [place, { time }] of first.entries()) {
      const next = first[place + 1]?.time ?? '9';
      expect(writes.some(({ answeredAt }) => answeredAt >= time && answeredAt < next)).toBe(true);
    }
  });
});

describe('the operator at rest', () => {
  it('logs runs without moves, and nothing above info', { timeout: 1000 * (REST_SECONDS + 60) }, async () => {
    const before = readLog(operator.log()).length;
    await sleep(1000 * REST_SECONDS);
    const rest = readLog(operator.log()).slice(before);
    log(
      `${REST_SECONDS} s at rest: ${rest.length} lines, ${rest.filter(({ level }) => level !== 'info').length} above info`,
    );
    expect(rest.length).toBeGreaterThan(0);
    expect(rest.map(({ msg, level, moves }) => ({ msg, level, moves }))).toEqual(
      rest.map(() => ({ msg: 'run finished', level: 'info', moves: 0 })),
    );
  });
});
