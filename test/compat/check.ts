import type { KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import type { Verdict } from './verdict.ts';

/** What a group of checks is to do, and whom to tell. */
export interface CheckContext {
  readonly kubernetes: KubernetesVersion;
  readonly minutes: number;
  readonly verdicts: number;
  readonly log: (line: string) => void;
  /** Reports the verdict of one of its checks. */
  decide(check: string, verdict: Verdict): void;
}

/** Checks that share a cluster. Those without a verdict in the end have failed. */
export interface CheckGroup {
  /** By which the command line chooses it. */
  readonly name: string;
  /** Names of its checks, in the order of the table. */
  readonly checks: readonly string[];
  run(context: CheckContext): Promise<void>;
}
