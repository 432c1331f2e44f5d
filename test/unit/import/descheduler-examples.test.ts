import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { validatePolicy } from '../../../src/api/validate.ts';
import { importDescheduler } from '../../../src/cli/import.ts';
import { lintCommand } from '../../../src/cli/lint.ts';
import { convertDescheduler } from '../../../src/import/descheduler/convert.ts';
import { unwrap } from '../../../src/import/descheduler/wrapped.ts';
import type { ImportNote } from '../../../src/import/note.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { expandLists } from '../../../src/observe/expand.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { plan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { CLUSTER } from './descheduler/cluster.ts';

const FOLDER = join(import.meta.dirname, 'descheduler');

interface Example {
  /** Moves of each policy, by name: the pod, and what the move repairs. */
  readonly policies: Readonly<Record<string, readonly string[]>>;
  /** Notes beside those that every policy has. */
  readonly notes?: readonly string[];
  /** Rules of lint that warn. */
  readonly warnings?: readonly string[];
}

const ARGS = 'profiles[0].pluginConfig[0].args';
const CORDON = 'Changed profiles[0].plugins.deschedule.enabled[0]: pods stay on nodes that are only cordoned';
const LEVELS = `Changed ${ARGS}.thresholds: two fixed levels became one distance`;
const START = 'the pod starts anew on another node';
const NOTHING = 'Lost profiles[0]: becomes no RebalancePolicy';

/** Situations that the documentation of the descheduler describes; one file each. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  'anti-affinity': { policies: { tidy: ['api-blue PodAntiAffinity'] } },
  'different-namespaces': {
    policies: {
      shared: ['twin-1 Duplicates'],
      'shared-worker': ['crashing Restarts'],
      'shared-aged': ['ancient MaxLifetime'],
      'shared-aged-worker': [],
    },
    notes: [
      `Changed profiles[0].pluginConfig[2].args: ${START}`,
      'Changed profiles[0]: becomes 4 policies, shared, shared-worker, shared-aged, shared-aged-worker',
      'Changed maxNoOfPodsToEvictPerNode: applies to each of the 4 policies by itself',
    ],
  },
  duplicates: { policies: { tidy: ['twin-1 Duplicates'] } },
  'duplicates-of-some-owners': { policies: {}, notes: [NOTHING, `Lost ${ARGS}.excludeOwnerKinds`] },
  failed: { policies: { tidy: ['evicted Failed', 'killed Failed'] } },
  'failed-for-some-reasons': { policies: { tidy: ['killed Failed'] } },
  'high-node-utilization': {
    policies: { tidy: ['cache', 'database', 'log-a1', 'slowed', 'web-a1'] },
    notes: [`Changed ${ARGS}.thresholds: a node is emptied whole`, `Changed ${ARGS}.evictionModes`],
  },
  labels: { policies: { tidy: ['cache MaxLifetime'] } },
  lifetime: { policies: { tidy: ['ancient MaxLifetime'] } },
  'lifetime-conditions': {
    policies: {},
    notes: [NOTHING, `Lost ${ARGS}.conditions`, `Lost ${ARGS}.ownerKinds`],
  },
  'lifetime-stuck': {
    policies: { tidy: ['imageless MaxLifetime'] },
    notes: [`Lost ${ARGS}.states: pods that succeeded`],
  },
  'low-node-utilization': { policies: { tidy: ['elsewhere', 'heavy-x', 'twin-1'] }, notes: [LEVELS] },
  'low-node-utilization-deviation': {
    policies: { tidy: ['elsewhere', 'heavy-x', 'twin-1'] },
    notes: [`Changed ${ARGS}.thresholds: deviations from the mean became one distance`],
  },
  'low-node-utilization-measured': { policies: { tidy: [] }, notes: [LEVELS, `Lost ${ARGS}.numberOfNodes`] },
  'low-node-utilization-namespaces': { policies: { tidy: [] }, notes: [LEVELS] },
  'namespaces-excluded': { policies: { tidy: [] } },
  'namespaces-included': { policies: { tidy: ['ancient MaxLifetime', 'twin-1 MaxLifetime'] } },
  'node-affinity-preferred': {
    policies: { tidy: ['cache NodeAffinity', 'database NodeAffinity'] },
    notes: [`Changed ${ARGS}.nodeAffinityType: repairs required node affinity, too`],
  },
  'node-affinity-required': { policies: { tidy: ['database NodeAffinity'] } },
  'node-fit': { policies: { tidy: ['drained Taints'] }, notes: [CORDON] },
  'old-api': {
    policies: {
      descheduler: [
        'ancient MaxLifetime',
        'api-blue PodAntiAffinity',
        'api-green',
        'crashing Restarts',
        'database NodeAffinity',
        'drained Taints',
        'elsewhere',
        'evicted Failed',
        'fresh',
        'heavy-x',
        'heavy-y',
        'killed Failed',
        'log-a1 TopologySpread',
        'log-a2 TopologySpread',
        'shaky',
        'slowed Taints',
        'twin-1 Duplicates',
        'web-a1 TopologySpread',
        'web-a2 TopologySpread',
      ],
    },
    notes: [
      'Changed strategies.RemovePodsViolatingNodeTaints.params: pods stay on nodes that are only cordoned',
      `Changed strategies.RemovePodsHavingTooManyRestarts.params: ${START}`,
      'Changed strategies.LowNodeUtilization.params.nodeResourceUtilizationThresholds.thresholds: two fixed levels',
      'Lost strategies.LowNodeUtilization.params.nodeResourceUtilizationThresholds.numberOfNodes',
    ],
  },
  'old-api-stuck': { policies: { descheduler: ['imageless MaxLifetime'] } },
  'priority-class': {
    policies: { tidy: [] },
    notes: [`Changed ${ARGS}.priorityThreshold.name: the value of PriorityClass important`],
  },
  'priority-value': { policies: { tidy: [] } },
  'profiles-of-node-pools': {
    policies: { general: ['twin-1 Duplicates'], spare: [] },
    notes: [
      `Changed ${ARGS}.nodeSelector: is about targets, too`,
      'Changed profiles[1].pluginConfig[0].args.nodeSelector: is about targets, too',
      'Changed profiles[1].plugins.deschedule.enabled[0]: pods stay on nodes that are only cordoned',
    ],
  },
  'profiles-with-other-protections': {
    policies: { careful: [], bold: ['drained Taints'] },
    notes: [
      'Changed profiles[1].plugins.deschedule.enabled[0]: pods stay on nodes that are only cordoned',
      'Lost profiles[1]: policies careful and bold select some of the same pods',
    ],
    warnings: ['overlap'],
  },
  protections: {
    policies: { tidy: [] },
    notes: [`Lost ${ARGS}.podProtections.defaultDisabled[1]: pods without a controller`],
  },
  restarts: { policies: { tidy: ['crashing Restarts'] }, notes: [`Changed ${ARGS}: ${START}`] },
  'restarts-crash-loop': { policies: { tidy: ['crashing Restarts'] }, notes: [`Changed ${ARGS}: ${START}`] },
  'spread-all': {
    policies: { tidy: ['log-a1 TopologySpread', 'web-a1 TopologySpread'] },
    notes: [`Changed ${ARGS}.topologyBalanceNodeFit`],
  },
  'spread-hard': { policies: { tidy: ['web-a1 TopologySpread'] } },
  taints: { policies: { tidy: ['drained Taints'] }, notes: [CORDON] },
  'taints-excluded': {
    policies: { tidy: [] },
    notes: [`Changed ${ARGS}: pods stay on nodes that are only`],
  },
  'taints-included': {
    policies: { tidy: ['slowed Taints'] },
    notes: [],
  },
  'whole-profile': {
    policies: {
      whole: [
        'ancient MaxLifetime',
        'api-blue PodAntiAffinity',
        'crashing Restarts',
        'database NodeAffinity',
        'drained Taints',
        'elsewhere',
        'evicted Failed',
        'heavy-x',
        'heavy-y',
        'killed Failed',
        'log-a3',
        'twin-1 Duplicates',
        'twin-2',
        'web-a1 TopologySpread',
        'web-a2 TopologySpread',
        'web-a3',
      ],
    },
    notes: [
      'Changed profiles[0].plugins.deschedule.enabled[1]: pods stay on nodes that are only cordoned',
      `Changed profiles[0].pluginConfig[2].args: ${START}`,
      'Changed profiles[0].pluginConfig[1].args.thresholds: two fixed levels became one distance',
    ],
  },
};

/** What every import says. */
const USUAL =
  /only reports, since|pods of a Job are moved only|a workload rests for|runs every 5m|evictions were unlimited|nodeFit: is not true|prefer-no-eviction is never moved/;

let folder = '';
let snapshot: ClusterSnapshot;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-import-'));
  snapshot = buildSnapshot(expandLists(CLUSTER));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('examples of the descheduler’s policies', () => {
  it('are all in the table', async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml'));
    expect(files.map((file) => file.replace('.yaml', '')).sort()).toEqual(Object.keys(EXAMPLES).sort());
  });

  it.each(Object.entries(EXAMPLES))('%s is imported, valid, and repairs what it is about', async (name, example) => {
    const file = join(FOLDER, `${name}.yaml`);
    const { resources, notes } = convertDescheduler(unwrap(parse(await readFile(file, 'utf8')), parse));
    const moves = resources.map((resource) => {
      const { value, problems } = validatePolicy(resource);
      expect(problems).toEqual([]);
      return [value.metadata.name, movesOf(value.spec)];
    });
    expect(Object.fromEntries(moves)).toEqual(example.policies);
    const told = notes.map(textOf).filter((note) => !USUAL.test(note));
    expect(told).toEqual((example.notes ?? []).map((start) => expect.stringContaining(start)));
  });

  it.each(Object.entries(EXAMPLES))(
    'lint finds no more in %s than the notes say',
    async (name, { policies, warnings = [] }) => {
      const { stdout } = await importDescheduler(join(FOLDER, `${name}.yaml`), { output: 'yaml', exitCode: false });
      const file = join(folder, `${name}.yaml`);
      await writeFile(file, stdout);
      const { problems } = JSON.parse((await lintCommand([file], 'json')).stdout) as { problems: { rule: string }[] };
      const isEmpty = Object.keys(policies).length === 0; // a file of comments alone, of which lint says just that
      expect(problems.map(({ rule }) => rule)).toEqual(isEmpty ? ['file'] : warnings);
    },
  );
});

function movesOf(spec: Parameters<typeof resolveOptions>[0]): readonly string[] {
  const { moves } = plan(snapshot, resolveOptions(spec));
  return moves.map(({ pod, repairs }) => [pod.name, ...repairs].join(' ')).sort();
}

function textOf({ effect, path, message }: ImportNote): string {
  return `${effect} ${path}: ${message}`;
}
