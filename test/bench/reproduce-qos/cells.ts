import type { VariantResult } from '../../../src/report/simulation-result.ts';
import type { QosSettings } from '../../support/qos-validation.ts';
import { classAt, missedIn, penaltyOf, type Requests, worstDeficit } from './runs.ts';

/** What is asked of a cell, and whether it is so. */
export interface Claim {
  readonly text: string;
  readonly holds: boolean;
}

/** One experiment, played by each policy. */
export interface Cell {
  readonly name: string;
  readonly requests: Requests;
  readonly settings: QosSettings;
  readonly judge: (published: VariantResult, ours: VariantResult) => readonly Claim[];
}

const MINUTE = 60;
const HOUR = 3600;

/** Validation 1 for other times than the published hour, with a window of one hour. */
export function lengthCells(file: string, minutes: readonly number[]): readonly Cell[] {
  return minutes.map((length) => ({
    name: `${length} min`,
    requests: { kind: 'Log', file },
    settings: { duration: length * MINUTE },
    judge: judgeLength,
  }));
}

/** Validation 1 with other windows than one hour. */
export function windowCells(file: string, windows: readonly number[], minutes: readonly number[]): readonly Cell[] {
  return windows.flatMap((window) =>
    minutes.map((length) => ({
      name: `window ${window < HOUR ? `${window / MINUTE} min` : `${window / HOUR} h`}, ${length} min`,
      requests: { kind: 'Log', file },
      settings: { window, duration: length * MINUTE },
      judge: judgeWindow,
    })),
  );
}

/**
 * Deployments of two replicas of the classes and in the order of the log, in each mode (T 7.2), on clusters of so many nodes of ten
 * slots. In mode Task the run time of an evicted pod is lost: it is for Jobs, and here the worst case of it.
 */
export function modeCells(file: string, count: number, clusters: readonly number[]): readonly Cell[] {
  return clusters.flatMap((nodes) =>
    (['Aggregated', 'Independent', 'Concurrent', 'Task'] as const).map((mode) => ({
      name: `${mode}, ${10 * nodes} slots`,
      requests: { kind: 'Sample', file, count },
      settings: { nodes, mode, replicas: 2 },
      judge: judgeMode,
    })),
  );
}

/** Workloads that nearly fill the cluster, or do. */
export function nearFullCells(
  shares: readonly number[],
  seeds: readonly number[],
  startups: readonly number[],
  margins: readonly number[],
): readonly Cell[] {
  return shares.flatMap((promised) =>
    startups.flatMap((startup) =>
      margins.flatMap((margin) =>
        seeds.map((seed) => ({
          name: `${Math.round(1000 * promised) / 10} %, start ${startup} s, margin ${margin} s, seed ${seed}`,
          requests: { kind: 'NearFull', seed, promised },
          settings: { startup, margin, seed },
          judge: judgeNearFull,
        })),
      ),
    ),
  );
}

function judgeLength(published: VariantResult, ours: VariantResult): readonly Claim[] {
  const [a, b, c] = [classAt(ours, 1), classAt(ours, 0.9), classAt(ours, 0.5)];
  return [
    { text: 'every C >= .45', holds: c.least >= 0.45 },
    { text: 'Gini of C <= .05', holds: c.gini <= 0.05 },
    { text: 'every B >= .89', holds: b.least >= 0.89 },
    { text: 'A >= .999', holds: Math.round(1000 * a.mean) >= 999 },
    penaltyClaim(published, ours),
    preemptionClaim(published, ours, 4),
  ];
}

function judgeWindow(published: VariantResult, ours: VariantResult): readonly Claim[] {
  return [
    penaltyClaim(published, ours),
    { text: 'worst deficit not above the published one', holds: worstDeficit(ours) <= worstDeficit(published) },
  ];
}

function judgeMode(published: VariantResult, ours: VariantResult): readonly Claim[] {
  return [
    { text: 'A >= .999', holds: Math.round(1000 * classAt(ours, 1).mean) >= 999 },
    { text: 'no more missed promises than published', holds: missedIn(ours) <= missedIn(published) },
    penaltyClaim(published, ours),
    { text: 'no more preemptions than published', holds: ours.moves.preemptions <= published.moves.preemptions },
  ];
}

function judgeNearFull(published: VariantResult, ours: VariantResult): readonly Claim[] {
  return [
    { text: 'no more missed promises than published', holds: missedIn(ours) <= missedIn(published) },
    preemptionClaim(published, ours, 3),
  ];
}

function penaltyClaim(published: VariantResult, ours: VariantResult): Claim {
  return { text: 'penalty not above the published one', holds: penaltyOf(ours) <= penaltyOf(published) };
}

function preemptionClaim(published: VariantResult, ours: VariantResult, part: number): Claim {
  return {
    text: `at most 1/${part} of the published preemptions`,
    holds: ours.moves.preemptions <= published.moves.preemptions / part,
  };
}
