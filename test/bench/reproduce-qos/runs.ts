import { readFileSync } from 'node:fs';
import type { ClassResult, VariantResult } from '../../../src/report/simulation-result.ts';
import { type LoggedRequest, parseRequestLog } from '../../../src/simulate/request-log.ts';
import type { Variant } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import {
  generateNearFull,
  generateRequests,
  lasting,
  oursVariant,
  PRIORITY,
  publishedVariant,
  type QosSettings,
  qosScenario,
} from '../../support/qos-validation.ts';

/** Where requests come from. */
export type Requests =
  | { readonly kind: 'Log'; readonly file: string }
  /** So many of the log, at equal distances, one a second. */
  | { readonly kind: 'Sample'; readonly file: string; readonly count: number }
  | { readonly kind: 'Generated'; readonly seed: number }
  | { readonly kind: 'NearFull'; readonly seed: number; readonly promised: number };

/** One simulation. */
export interface Run {
  readonly requests: Requests;
  readonly settings: QosSettings;
  readonly variant: 'priority' | 'published' | 'ours';
}

/** Plays it. */
export async function play({ requests, settings, variant }: Run): Promise<VariantResult> {
  const own = variantOf(variant, settings);
  const { variants } = await simulate(qosScenario(requestsOf(requests, settings), [own], settings));
  const [result] = variants;
  if (result === undefined) {
    throw new Error(`there is no variant ${variant}`);
  }
  return result;
}

function variantOf(variant: Run['variant'], { period }: QosSettings): Variant {
  switch (variant) {
    case 'priority':
      return PRIORITY;
    case 'published':
      return publishedVariant(period);
    case 'ours':
      return oursVariant(period);
    default:
      return variant satisfies never;
  }
}

function requestsOf(requests: Requests, { duration = 3600 }: QosSettings) {
  switch (requests.kind) {
    case 'Log':
      return lasting(readLog(requests.file), duration);
    case 'Sample':
      return lasting(sampled(readLog(requests.file), requests.count), duration);
    case 'Generated':
      return generateRequests(requests.seed).requests;
    case 'NearFull':
      return generateNearFull(requests.seed, requests.promised);
    default:
      return requests satisfies never;
  }
}

function readLog(file: string): readonly LoggedRequest[] {
  return parseRequestLog(readFileSync(file, 'utf8'), file);
}

function sampled(requests: readonly LoggedRequest[], count: number): readonly LoggedRequest[] {
  return Array.from({ length: count }, (_, second) => requests[Math.floor((second * requests.length) / count)]).flatMap(
    (request, second) => (request === undefined ? [] : [{ ...request, second }]),
  );
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
