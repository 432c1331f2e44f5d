import type { Random } from '../support/random.ts';
import { between, chance, weighted } from './choice.ts';
import type { Json } from './kube-object.ts';
import { GPU, OVERHEAD } from './vocabulary.ts';

/** What a pod should take of its node: millicores, MiB and counts; absent means nothing. */
export interface Amounts {
  readonly cpu?: number;
  readonly memory?: number;
  readonly ephemeralStorage?: number;
  readonly gpu?: number;
  readonly hugePages?: number;
}

/** Fields of a pod's spec that make it request something. */
export type ContainerFields = {
  readonly containers: readonly Json[];
  readonly initContainers?: readonly Json[];
  readonly resources?: Json;
  readonly runtimeClassName?: string;
};

/**
 * Containers whose effective requests are these, reached in one of the ways that Kubernetes has: one container, several,
 * a sidecar, a large init container, overhead of a RuntimeClass, requests of the pod as a whole.
 */
export function randomContainers(random: Random, amounts: Amounts): ContainerFields {
  return weighted<() => ContainerFields>(random, [
    [5, () => ({ containers: [container('main', amounts)] })],
    [2, () => ({ containers: split(random, amounts, ['main', 'helper']) })],
    [2, () => withSidecar(random, amounts)],
    [2, () => withInit(random, amounts)],
    [1, () => withInitAfterSidecar(random, amounts)],
    [1, () => withOverhead(amounts)],
    [1, () => withPodLevel(random, amounts)],
  ])();
}

/** A container with these requests; extended resources and huge pages must be limits too. */
export function container(name: string, amounts: Amounts): Json {
  const limits = scalarAmounts(amounts);
  return { name, image: `registry.invalid/${name}:1`, resources: { requests: resourceList(amounts), limits } };
}

function resourceList(amounts: Amounts): Json {
  return {
    ...(amounts.cpu === undefined ? {} : { cpu: `${amounts.cpu}m` }),
    ...(amounts.memory === undefined ? {} : { memory: `${amounts.memory}Mi` }),
    ...(amounts.ephemeralStorage === undefined ? {} : { 'ephemeral-storage': `${amounts.ephemeralStorage}Mi` }),
    ...scalarAmounts(amounts),
  };
}

function scalarAmounts({ gpu, hugePages }: Amounts): Json {
  return {
    ...(gpu === undefined ? {} : { [GPU]: String(gpu) }),
    ...(hugePages === undefined ? {} : { 'hugepages-2Mi': `${hugePages}Mi` }),
  };
}

/** The cpu and memory in two parts; what comes in units stays with the first. */
function halves(random: Random, amounts: Amounts): readonly [Amounts, Amounts] {
  const cpu = random.below(Math.floor(amounts.cpu ?? 0) + 1);
  const memory = random.below(Math.floor(amounts.memory ?? 0) + 1);
  return [
    { ...amounts, cpu: (amounts.cpu ?? 0) - cpu, memory: (amounts.memory ?? 0) - memory },
    { cpu, memory },
  ];
}

function split(random: Random, amounts: Amounts, names: readonly [string, string]): readonly Json[] {
  return halves(random, amounts).map((part, index) => container(names[index] ?? '', part));
}

function withSidecar(random: Random, amounts: Amounts): ContainerFields {
  const [main, sidecar] = halves(random, amounts);
  return {
    containers: [container('main', main)],
    initContainers: [{ ...container('proxy', sidecar), restartPolicy: 'Always' }],
  };
}

/** The init container is the larger one; it holds all of it, and the main container a part. */
function withInit(random: Random, amounts: Amounts): ContainerFields {
  const [part] = halves(random, amounts);
  return { containers: [container('main', part)], initContainers: [container('setup', amounts)] };
}

/** While the init container runs, so does the sidecar that came before it. */
function withInitAfterSidecar(random: Random, amounts: Amounts): ContainerFields {
  const [setup, sidecar] = halves(random, amounts);
  return {
    containers: [container('main', {})],
    initContainers: [{ ...container('proxy', sidecar), restartPolicy: 'Always' }, container('setup', setup)],
  };
}

/** Less than the overhead cannot be reached this way. */
function withOverhead(amounts: Amounts): ContainerFields {
  const cpu = (amounts.cpu ?? 0) - OVERHEAD.cpu;
  const memory = (amounts.memory ?? 0) - OVERHEAD.memory;
  return cpu < 0 || memory < 0
    ? { containers: [container('main', amounts)] }
    : { containers: [container('main', { ...amounts, cpu, memory })], runtimeClassName: 'sandboxed' };
}

function withPodLevel(random: Random, amounts: Amounts): ContainerFields {
  const { cpu = 0, memory = 0, ...others } = amounts;
  const own = { cpu: between(random, 0, Math.floor(cpu)), memory: between(random, 0, Math.floor(memory)) };
  return {
    containers: [
      container('main', { ...others, ...(others.hugePages !== undefined || chance(random, 0.7) ? own : {}) }),
    ],
    resources: { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } },
  };
}
