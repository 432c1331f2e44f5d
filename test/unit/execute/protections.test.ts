import { describe, expect, it } from 'vitest';
import { liveCheck } from '../../../src/execute/live-check.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { STAY_ANNOTATIONS } from '../../../src/model/stay-annotations.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import type { WorkloadInfo } from '../../../src/model/workload.ts';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import type { PolicyOptions } from '../../../src/plan/options.ts';
import { planningInputOf } from '../../../src/plan/planning-input.ts';
import type { ProtectionName } from '../../../src/plan/rejection-codes.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aRawPod } from '../../support/builders/raw.ts';
import { aRollout, constraints } from '../../support/builders.ts';
import { aWorld, forever, policy, WEB_1, WEB_2, web } from '../../support/execution.ts';
import { NOON } from '../../support/test-clock.ts';

interface Change {
  readonly pod?: Partial<PodInfo>;
  readonly workload?: Partial<WorkloadInfo>;
  readonly protections?: Partial<PolicyOptions['protections']>;
}

function ownedBy(kind: string): Change {
  return { pod: { owner: { kind, name: web.name, uid: web.uid } } };
}

/**
 * What brings each protection about. Scope, cooldown and quarantine are for the plan alone: its own moves begin a cooldown.
 */
const CHANGES: Readonly<Record<Exclude<ProtectionName, 'OutOfScope' | 'Cooldown' | 'Quarantine'>, Change>> = {
  MirrorPod: { pod: { mirror: true } },
  DaemonSetPod: ownedBy('DaemonSet'),
  NoController: { pod: { owner: undefined } },
  CriticalPriority: { pod: { priority: 2_000_000_000 } },
  PriorityThreshold: { pod: { priority: 1_000_000 } },
  Terminating: { pod: { terminating: true } },
  Pending: { pod: { phase: 'Pending' } },
  NotReady: { pod: { ready: false } },
  MinPodAge: { pod: { createdAt: epochSeconds(NOON - 10) } },
  MinReplicas: { workload: { replicas: 1 } },
  LocalStorage: { pod: { localStorage: true } },
  PersistentVolumeClaim: { pod: { claims: [{ name: 'data', template: undefined }] }, protections: { pvc: 'Protect' } },
  NoPodDisruptionBudget: { protections: { withoutPDB: 'Protect' } },
  Job: ownedBy('Job'),
  DoNotEvict: { pod: { annotations: new Map([['evenkeel.dev/do-not-evict', '']]) } },
  Rollout: { workload: { rollout: aRollout(3, { observed: false }) } },
  UnsupportedConstraint: {
    pod: { constraints: constraints({ unsupported: [{ filter: 'VolumeBinding', detail: 'x' }] }) },
  },
};

const OPTIONS = resolveOptions(policy.spec);

/** Why the planner leaves the pod, and what the live check makes of a move that was planned before the change. */
async function verdictsOn({ pod, workload, protections }: Change, move = aMove(WEB_1, 'b')) {
  const options = { ...OPTIONS, protections: { ...OPTIONS.protections, ...protections } };
  const w = aWorld([{ ...WEB_1, ...pod }, WEB_2]);
  w.cluster.putWorkload({ ...web, replicas: 2, ...workload });
  const { pods, holds } = planningInputOf(await w.ports.reader.snapshot(forever), options);
  const place = pods.findIndex(({ uid }) => uid === WEB_1.uid);
  const live = await liveCheck({ move, plannedAt: epochSeconds(NOON), options, inFlight: [] }, w.ports, forever);
  return { planned: holds.of(place)?.code, live: live.kind };
}

describe('planner and live check', () => {
  it('both let an ordinary pod go', async () => {
    expect(await verdictsOn({})).toEqual({ planned: undefined, live: 'Clear' });
  });

  it.each(Object.entries(CHANGES))('both obey %s', async (code, change) => {
    expect(await verdictsOn(change)).toEqual({ planned: code, live: 'Skip' });
  });

  it('the live check lets a pod go that is not Ready only when its restarts are repaired', async () => {
    const repair = (...repairs: ('Restarts' | 'Taints' | 'MaxLifetime')[]) => ({ ...aMove(WEB_1, 'b'), repairs });
    const failing = { pod: { ready: false } };
    expect((await verdictsOn(failing, repair('Restarts'))).live).toBe('Clear');
    expect((await verdictsOn(failing, repair('Taints', 'Restarts'))).live).toBe('Clear');
    expect((await verdictsOn(failing, repair('Taints'))).live).toBe('Skip');
    expect((await verdictsOn(failing, repair('MaxLifetime'))).live).toBe('Skip');
    expect((await verdictsOn({ pod: { ...failing.pod, localStorage: true } }, repair('Restarts'))).live).toBe('Skip');
  });

  it.each([...STAY_ANNOTATIONS.keys()])(
    'both obey the annotation %s of a pod as the API server sends it',
    async (key) => {
      const value = STAY_ANNOTATIONS.get(key)?.('true') === true ? 'true' : 'false';
      const raw = aRawPod('web-1', { metadata: { annotations: { [key]: value, other: 'x' } } });
      const { annotations } = projectPod(raw, createInterner()).pod;
      expect(await verdictsOn({ pod: { annotations } })).toEqual({ planned: 'DoNotEvict', live: 'Skip' });
    },
  );
});
