import { dirname, isAbsolute, join } from 'node:path';
import { readObjectFiles, readText } from '../adapters/snapshot-file/read-files.ts';
import type { FieldProblem } from '../api/json-schema.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { formatProblem } from '../api/validate.ts';
import { Failure } from '../app/failure.ts';
import type { JsonObject } from '../model/json.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { projectAppGraph } from '../observe/project/app-graph.ts';
import { projectServiceClass } from '../observe/project/service-class.ts';
import { buildSnapshot } from '../observe/snapshot-builder.ts';
import { simulationHtml } from '../report/simulation-html.ts';
import type { SimulationResult } from '../report/simulation-result.ts';
import { simulationMarkdown, simulationTable } from '../report/simulation-text.ts';
import { filesOf, resolveScenario } from '../simulate/resolve.ts';
import type { Scenario } from '../simulate/scenario.ts';
import type { ScenarioResource } from '../simulate/scenario-schema.ts';
import { type Progress, simulate } from '../simulate/simulate.ts';
import type { CommandResult } from './command.ts';
import { renderJson } from './output.ts';
import type { SimulationOutput } from './output-formats.ts';
import { formatFileProblem, type ResourceFile, readPolicy, readResources } from './policy-file.ts';
import { SCENARIOS } from './scenario-files.ts';

/** Flags of `evenkeel simulate`. */
export interface SimulateFlags {
  /** File of a Scenario, with the policies and classes that it names. */
  readonly file: string;
  /** Files of further policies. */
  readonly policies: readonly string[];
  readonly output: SimulationOutput;
  /** Instead of that of the scenario. */
  readonly seed: number | undefined;
}

/** Where progress is shown, and by which clock it is told that a run is long. */
export interface SimulateConsole {
  readonly isTerminal: boolean;
  /** Milliseconds. */
  readonly now: () => number;
  readonly write: (text: string) => void;
}

/** Plays a scenario and reports. Throws Failure or InputError for people to read. */
export async function simulateCommand(flags: SimulateFlags, console: SimulateConsole): Promise<CommandResult> {
  const scenario = await readScenario(flags);
  const began = console.now();
  const result = await simulate(scenario, progressLine(console));
  const total = result.variants.reduce((sum, variant) => sum + variant.events, 0);
  const span = (console.now() - began) / 1000;
  const rate = span > 0 ? Math.round(total / span) : total;
  const stderr = `${total} events in ${span.toFixed(2)} s, ${rate} a second\n`;
  return { stdout: render(result, flags.output), stderr, exitCode: 0 };
}

function render(result: SimulationResult, output: SimulationOutput): string {
  switch (output) {
    case 'table':
      return simulationTable(result);
    case 'json':
      return renderJson(result);
    case 'markdown':
      return simulationMarkdown(result);
    case 'html':
      return simulationHtml(result);
    default:
      return output satisfies never;
  }
}

/** After this many milliseconds without an end people want to know how far it is. */
const PATIENCE = 1000;
const BETWEEN = 500;

/** A line that is written over and over on a terminal, and now and then elsewhere, once a run takes long. */
function progressLine({ isTerminal, now, write }: SimulateConsole): Progress {
  const began = now();
  let last = began;
  return ({ variant, now: time, duration, events }) => {
    const isDue = now() - began >= PATIENCE && now() - last >= (isTerminal ? BETWEEN : 10 * BETWEEN);
    if (isDue) {
      last = now();
      const line = `${variant}: ${Math.floor((100 * time) / duration)} % of ${duration} s, ${events} events`;
      write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    }
    if (isTerminal && time >= duration && last > began) {
      write('\r\u001b[K');
    }
  };
}

async function readScenario(flags: SimulateFlags): Promise<Scenario> {
  const file = await readResources(flags.file, SCENARIOS);
  if (file.problems.length > 0) {
    throw new Failure(file.problems.map(formatFileProblem));
  }
  const scenarios = file.resources.filter(({ kind }) => kind === 'Scenario');
  const [only] = scenarios;
  if (only === undefined || scenarios.length > 1) {
    throw new Failure(
      `${flags.file}: holds ${scenarios.length} Scenarios: write exactly one, with apiVersion, kind, metadata and spec`,
    );
  }
  const resource = only.value as ScenarioResource;
  const seed = flags.seed ?? resource.spec.seed;
  const scenario = resolveScenario(
    { ...resource, spec: { ...resource.spec, seed } },
    await referencesOf(resource, file, flags),
  );
  if (isProblems(scenario)) {
    throw new Failure(scenario.map((problem) => `${flags.file}: ${formatProblem(problem)}`));
  }
  return scenario;
}

function isProblems(value: Scenario | readonly FieldProblem[]): value is readonly FieldProblem[] {
  return Array.isArray(value);
}

async function referencesOf({ spec }: ScenarioResource, { resources }: ResourceFile, flags: SimulateFlags) {
  const texts = new Map<string, string>();
  for (const name of filesOf(spec)) {
    texts.set(name, await readText(beside(flags.file, name)));
  }
  const own = ofKind<RebalancePolicy>(resources, 'RebalancePolicy');
  const further = (await Promise.all(flags.policies.map(readPolicy))).map(({ policy }) => policy);
  return {
    texts,
    policies: [...own, ...further],
    classes: ofKind<StoredClass>(resources, 'ServiceClass').map((value) => projectServiceClass(value).terms),
    appGraphs: ofKind<JsonObject>(resources, 'AppGraph').map(projectAppGraph),
    snapshot: await snapshotOf(spec.snapshot, flags.file),
  };
}

type StoredClass = Parameters<typeof projectServiceClass>[0];

/** The resources of a kind, which were checked when the file was read. */
function ofKind<Value>(resources: ResourceFile['resources'], wanted: string): readonly Value[] {
  return resources.filter(({ kind }) => kind === wanted).map(({ value }) => value as Value);
}

async function snapshotOf(name: string | undefined, file: string): Promise<ClusterSnapshot | undefined> {
  return name === undefined ? undefined : buildSnapshot(await readObjectFiles([beside(file, name)], process.stdin));
}

/** Files are named from where the scenario stands. */
function beside(file: string, name: string): string {
  return isAbsolute(name) || file === '-' ? name : join(dirname(file), name);
}
