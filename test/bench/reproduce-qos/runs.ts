import { readFileSync } from 'node:fs';
import type { ClassResult, VariantResult } from '../../../src/report/simulation-result.ts';
import { parseRequestLog } from '../../../src/simulate/request-log.ts';
import type { Variant } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import {
  generateNearFull,
  generateRequests,
  lasting,
  OURS,
  PRIORITY,
  PUBLISHED,
  type QosSettings,
  qosScenario,
} from '../../support/qos-validation.ts';

/** Where requests come from. */
export type Requests =
  | { readonly kind: 'Log'; readonly file: string }
  | { readonly kind: 'Generated'; readonly seed: number }
  | { readonly kind: 'NearFull'; readonly seed: number; readonly promised: number };

/** One simulation. */
export interface Run {
  readonly requests: Requests;
  readonly settings: QosSettings;
  readonly variant: 'priority' | 'published' | 'ours';
}

const VARIANTS: readonly Variant[] = [PRIORITY, PUBLISHED, OURS];

/** Plays it. */
export async function play({ requests, settings, variant }: Run): Promise<VariantResult> {
  const own = VARIANTS.filter(({ name }) => name === variant);
  const { variants } = await simulate(qosScenario(requestsOf(requests, settings), own, settings));
  const [result] = variants;
  if (result === undefined) {
    throw new Error(`there is no variant ${variant}`);
  }
  return result;
}

function requestsOf(requests: Requests, { duration = 3600 }: QosSettings) {
  switch (requests.kind) {
    case 'Log':
      return lasting(parseRequestLog(readFileSync(requests.file, 'utf8'), requests.file), duration);
    case 'Generated':
      return generateRequests(requests.seed).requests;
    case 'NearFull':
      return generateNearFull(requests.seed, requests.promised);
    default:
      return requests satisfies never;
  }
}

/** Equal for runs with equal results: the window of a class matters to our policy alone. */
export function keyOf({ requests, settings, variant }: Run): string {
  const { window, ...others } = settings;
  return JSON.stringify([requests, variant === 'ours' ? settings : others, variant]);
}

/** The classes of the experiment by their SLO. */
export function classAt({ classes }: VariantResult, slo: number): ClassResult {
  const found = classes.find((each) => each.slo === slo);
  if (found === undefined) {
    throw new Error(`there is no class with SLO ${slo}`);
  }
  return found;
}

/** What is owed to all, in core-seconds. */
export function penaltyOf({ classes }: VariantResult): number {
  return classes.reduce((sum, { penalty }) => sum + penalty, 0);
}

/** Promises that were not kept. */
export function missedIn({ classes }: VariantResult): number {
  return classes.reduce((sum, { fulfilled, workloads }) => sum + Math.round((1 - fulfilled) * workloads), 0);
}

/** What the worst request lacks of its SLO. */
export function worstDeficit({ classes }: VariantResult): number {
  return Math.max(0, ...classes.map(({ slo, least }) => slo - least));
}
