import { expandFolders } from '../adapters/snapshot-file/folders.ts';
import { isRecord } from '../api/json-schema.ts';
import type { AppGraph } from '../api/v1alpha1/app-graph.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { Repair } from '../api/v1alpha1/repair.ts';
import { Failure } from '../app/failure.ts';
import { parseDuration } from '../model/duration.ts';
import { count } from '../plan/format.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import { type Finding, findingsJunit, findingsSarif } from '../report/findings.ts';
import { VERSION } from '../version.ts';
import type { CommandResult } from './command.ts';
import { renderJson } from './output.ts';
import type { LintOutput } from './output-formats.ts';
import { type FilePlace, type FileResource, formatFileProblem, readResources } from './policy-file.ts';
import { SCENARIOS } from './scenario-files.ts';

/** `evenkeel lint FILE...`: every problem of every file, also of those in folders; exit code 1 when there is an error among them. */
export async function lintCommand(given: readonly string[], output: LintOutput): Promise<CommandResult> {
  if (given.filter((file) => file === '-').length > 1) {
    throw new Failure('- is written twice, but standard input can be read only once: write it once');
  }
  const files = await expandFolders(given);
  const read = await Promise.all(files.map((file) => readResources(file, SCENARIOS)));
  const resources = read.flatMap((file) => file.resources);
  const findings: readonly Finding[] = [
    ...read.flatMap(({ problems }) => problems.map((problem) => ({ ...problem, severity: 'error' as const }))),
    ...duplicates(resources),
    ...overlaps(resources.filter(({ isValid }) => isValid)),
    ...unreachable(resources.filter(({ isValid }) => isValid)),
    ...withoutEffect(resources.filter(({ isValid }) => isValid)),
    ...packsNothing(resources.filter(({ isValid }) => isValid)),
    ...sharedWorkloads(resources.filter(({ isValid }) => isValid)),
  ].toSorted(byPlace(files));
  const names = files.map((file) => (file === '-' ? '<stdin>' : file));
  return {
    stdout: render(findings, resources.length, names, output),
    exitCode: findings.some(({ severity }) => severity === 'error') ? 1 : 0,
  };
}

function render(findings: readonly Finding[], resources: number, files: readonly string[], output: LintOutput): string {
  switch (output) {
    case 'table':
      return findings.length === 0
        ? `${count(resources, 'resource')}, no problems\n`
        : findings.map((finding) => `${lineOf(finding)}\n`).join('');
    case 'json':
      return renderJson({ resources, problems: findings });
    case 'junit':
      return findingsJunit('evenkeel lint', files, findings);
    case 'sarif':
      return findingsSarif(VERSION, findings);
    default:
      return output satisfies never;
  }
}

function lineOf(finding: Finding): string {
  const message = finding.severity === 'warning' ? `warning: ${finding.message}` : finding.message;
  return formatFileProblem({ ...finding, message });
}

/** In the order of the arguments, then by line and column. */
function byPlace(files: readonly string[]): (left: FilePlace, right: FilePlace) => number {
  const rank = new Map(files.map((file, index) => [file === '-' ? '<stdin>' : file, index]));
  return (left, right) =>
    (rank.get(left.file) ?? 0) - (rank.get(right.file) ?? 0) || left.line - right.line || left.column - right.column;
}

/** A name can be given only once to a kind in a namespace: of two, the one that is applied last stays. */
function duplicates(resources: readonly FileResource[]): readonly Finding[] {
  const first = new Map<string, FileResource>();
  return resources.flatMap((resource): readonly Finding[] => {
    const { kind, name, value, place } = resource;
    const key = JSON.stringify([kind, namespaceOf(value), name]);
    const earlier = first.get(key);
    if (kind === '' || name === '' || earlier === undefined) {
      first.set(key, resource);
      return [];
    }
    const message = `metadata.name: there is another ${kind} ${name} at ${placeText(earlier.place)}: rename one of them`;
    return [{ ...place, rule: 'duplicate-name', severity: 'error', message }];
  });
}

function namespaceOf(value: unknown): unknown {
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  return isRecord(metadata) ? (metadata['namespace'] ?? '') : '';
}

/** Of two policies with the same scope the older one owns every pod, and the other one never does anything. */
function overlaps(resources: readonly FileResource[]): readonly Finding[] {
  const first = new Map<string, FileResource>();
  return resources.flatMap((resource): readonly Finding[] => {
    const policy = resource.value as RebalancePolicy;
    if (resource.kind !== 'RebalancePolicy' || policy.spec.suspend) {
      return [];
    }
    const scope = canonical(policy.spec.scope);
    const earlier = first.get(scope);
    if (earlier === undefined || earlier.name === resource.name) {
      first.set(scope, resource);
      return [];
    }
    const message = `spec.scope: selects the same pods as RebalancePolicy ${earlier.name} at ${placeText(earlier.place)}, and the older of the two owns them all: select others, or suspend one`;
    return [{ ...resource.place, rule: 'overlap', severity: 'warning', message }];
  });
}

/** Who waits under such a policy is let in where there is room, and nobody is ever evicted for it. */
function unreachable(resources: readonly FileResource[]): readonly Finding[] {
  return resources.flatMap(({ kind, value, place }): readonly Finding[] => {
    const { spec } = value as RebalancePolicy;
    if (kind !== 'RebalancePolicy' || !STRATEGY_TRAITS[spec.strategy.type].admitsWaitingPods) {
      return [];
    }
    return spec.budgets.flatMap((budget, index) => {
      const field =
        budget.schedule === undefined ? EVICTION_LIMITS.find((each) => allowsNone(budget[each])) : undefined;
      const message = `spec.budgets[${index}].${field}: nobody is ever evicted, so that a pod on a full cluster waits whatever its ServiceClass promises: write a larger one, or a schedule`;
      return field === undefined ? [] : [{ ...place, rule: 'unreachable-promise', severity: 'warning', message }];
    });
  });
}

/** Repairs that can never move a pod. */
function withoutEffect(resources: readonly FileResource[]): readonly Finding[] {
  return resources.flatMap(({ kind, value, place }): readonly Finding[] => {
    const { spec } = value as RebalancePolicy;
    if (kind !== 'RebalancePolicy' || spec.repair === undefined) {
      return [];
    }
    const message = idleRepair(spec.repair, spec.protections.minPodAge);
    return message === undefined ? [] : [{ ...place, rule: 'repair-without-effect', severity: 'warning', message }];
  });
}

function idleRepair(repair: Repair, minPodAge: string): string | undefined {
  const on = Object.values(repair).filter((rule) => rule !== false);
  if (on.length === 0) {
    return 'spec.repair: repairs nothing: write what is to be repaired, such as podAntiAffinity: Required, or remove it';
  }
  const { age, states } = repair.maxLifetime ?? {};
  // In a state such as Evicted a pod may have failed: minPodAge does not keep it.
  return age !== undefined && states === undefined && parseDuration(age) < parseDuration(minPodAge)
    ? `spec.repair.maxLifetime.age: protections.minPodAge ${minPodAge} holds pods for longer than ${age}: write an age above it`
    : undefined;
}

/** Pods of a node below which a limit keeps most nodes from being emptied. */
const MOST_OF_SMALL_NODES = 5;

/** A node is emptied within the budgets or not at all. */
function packsNothing(resources: readonly FileResource[]): readonly Finding[] {
  return resources.flatMap(({ kind, value, place }): readonly Finding[] => {
    const { spec } = value as RebalancePolicy;
    if (kind !== 'RebalancePolicy' || STRATEGY_TRAITS[spec.strategy.type].improves !== 'Packing') {
      return [];
    }
    return spec.budgets.flatMap((budget, index) => {
      const limits = budget.schedule === undefined ? (['maxMoves', 'perNode'] as const) : [];
      const field = limits.find((each) => (budget[each] ?? MOST_OF_SMALL_NODES) < MOST_OF_SMALL_NODES);
      const message = `spec.budgets[${index}].${field}: a node with more than ${field && count(budget[field] ?? 0, 'pod')} is never emptied, since all of its pods are moved or none: write a larger one, or leave it out`;
      return field === undefined ? [] : [{ ...place, rule: 'pack-without-effect', severity: 'warning', message }];
    });
  });
}

/** Of two AppGraphs with a workload in common, plans leave one alone. */
function sharedWorkloads(resources: readonly FileResource[]): readonly Finding[] {
  const first = new Map<string, FileResource>();
  return resources.flatMap((resource): readonly Finding[] => {
    if (resource.kind !== 'AppGraph') {
      return [];
    }
    const { spec } = resource.value as AppGraph;
    return spec.members.flatMap(({ name, workload, selector }): readonly Finding[] => {
      const key = canonical([namespaceOf(resource.value), workload ?? selector]);
      const earlier = first.get(key) ?? resource;
      first.set(key, earlier);
      const message = `spec.members: ${name} is a member of AppGraph ${earlier.name} at ${placeText(earlier.place)}, too, and plans leave one of them alone: put all that it talks to into one AppGraph`;
      return earlier.name === resource.name
        ? []
        : [{ ...resource.place, rule: 'shared-workload', severity: 'warning', message }];
    });
  });
}

const EVICTION_LIMITS = ['maxMoves', 'perOwner', 'perNode', 'perNamespace', 'maxOverhead'] as const;

/** `0`, `0%`, and no time in any spelling. */
function allowsNone(limit: number | string | undefined): boolean {
  return typeof limit === 'string' && !limit.endsWith('%')
    ? parseDuration(limit) === 0
    : limit !== undefined && Number.parseFloat(String(limit)) === 0;
}

/** Equal values have equal texts, whatever the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

function placeText({ file, line }: FilePlace): string {
  return `${file}:${line}`;
}
