import { NO_STORAGE } from '../../src/model/storage.ts';
import { seconds } from '../../src/model/units.ts';
import { createInterner } from '../../src/observe/interner.ts';
import {
  DEFAULT_IMAGE_SIZE,
  DEFAULT_METRICS,
  DEFAULT_START,
  DEFAULT_TIMING,
  makeNode,
  makeWorkload,
  type WorkloadParts,
} from '../../src/simulate/parts.ts';
import type { Scenario, Variant, WorkloadSpec } from '../../src/simulate/scenario.ts';

const interner = createInterner();

/** A node of 2 CPU and 2 GiB. */
export function aSimulatedNode(
  name: string,
  allocatable: Readonly<Record<string, string>> = {},
  labels: Readonly<Record<string, string>> = {},
): Scenario['nodes'][number] {
  return makeNode(name, { cpu: '2', memory: '2Gi', ...allocatable }, interner, { labels });
}

/** A workload of one pod that requests 100m and 64Mi; `pod` adds to its spec. */
export function aSimulatedWorkload(
  name: string,
  {
    pod = {},
    labels = {},
    ...parts
  }: Partial<WorkloadParts> & { readonly pod?: object; readonly labels?: object } = {},
): WorkloadSpec {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }];
  return makeWorkload({ name, template: { metadata: { labels }, spec: { containers, ...pod } }, ...parts }, interner);
}

/** The scheduler alone. */
export const ALONE: Variant = { name: 'alone', scheduler: 'None', policies: [] };

/** Ten minutes on two nodes, with the scheduler alone, and every delay a round number of seconds. */
export function aScenario(fields: Partial<Scenario> = {}): Scenario {
  const fixed = (value: number) => ({ kind: 'Fixed' as const, value: seconds(value) });
  return {
    name: 'test',
    seed: 1,
    duration: seconds(600),
    start: DEFAULT_START,
    nodes: [aSimulatedNode('a'), aSimulatedNode('b')],
    workloads: [],
    incidents: [],
    pdbs: [],
    namespaces: new Map([['default', new Map()]]),
    storage: NO_STORAGE,
    classes: [],
    timing: {
      ...DEFAULT_TIMING,
      startup: { hot: fixed(10), cold: fixed(10) },
      termination: fixed(5),
      scheduling: seconds(0),
      nodeGrace: seconds(40),
      nodeToleration: seconds(60),
    },
    metrics: DEFAULT_METRICS,
    starvation: false,
    memory: undefined,
    imageSize: DEFAULT_IMAGE_SIZE,
    variants: [ALONE],
    ...fields,
  };
}
