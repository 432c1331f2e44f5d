import { parseArgs } from 'node:util';
import {
  KUBERNETES_VERSIONS,
  type KubernetesVersion,
  kubernetesVersion,
} from '../control-plane/kubernetes-versions.ts';

/** What `npm run compat` is to do. */
export interface CompatOptions {
  readonly versions: readonly KubernetesVersion[];
  /** Names of the groups of checks to run. */
  readonly groups: readonly string[];
  /** How long the operator runs at rest, and how long in action. */
  readonly minutes: number;
  /** Verdicts of the parity check. */
  readonly verdicts: number;
}

/** Reads the command line. Throws a RangeError with what to write instead. */
export function parseOptions(args: readonly string[], groups: readonly string[]): CompatOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kubernetes: { type: 'string', default: KUBERNETES_VERSIONS.join(',') },
      checks: { type: 'string', default: groups.join(',') },
      minutes: { type: 'string', default: '10' },
      verdicts: { type: 'string', default: '300' },
    },
  });
  return {
    versions: values.kubernetes.split(',').map(kubernetesVersion),
    groups: values.checks.split(',').map((name) => groupNamed(name, groups)),
    minutes: positive('minutes', values.minutes),
    verdicts: positive('verdicts', values.verdicts),
  };
}

function groupNamed(name: string, groups: readonly string[]): string {
  if (!groups.includes(name)) {
    throw new RangeError(`--checks ${name}: choose from ${groups.join(', ')}`);
  }
  return name;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0) {
    throw new RangeError(`--${name} ${text}: write a number above 0`);
  }
  return value;
}
