import { join } from 'node:path';
import { buildTools, missingPrograms, type ToolModule } from './go-programs.ts';

/** The programs that a control plane is made of, by the names of their binaries. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kwok',
  'metrics-server',
] as const;

/** The name of one of the programs. */
export type ProgramName = (typeof programs)[number];

/** A folder with all the programs. */
export interface Programs {
  /** The path of a program; throws when there is none of that name. */
  bin(name: string): string;
}

/** Where `buildControlPlane` reports its progress, line by line. */
export interface BuildOptions {
  readonly log: (line: string) => void;
}

const controlPlane: ToolModule = {
  title: 'the control plane',
  folder: import.meta.dirname,
  cache: 'control-plane',
  programs,
  renamed: { server: 'etcd' },
  firstBuild: '4 to 5 minutes',
  flags: versionFlags,
};

/**
 * The programs of the control plane, compiled from the Go modules pinned in go.mod. They are kept in the user's cache
 * folder under a key made of go.mod, go.sum, the Go version and the build flags, so that only the first call builds
 * (four to five minutes on two cores, 2 GB of memory at the peak); concurrent callers wait for one another.
 * A folder of ready programs named by EVENKEEL_ASSETS, or by envtest's KUBEBUILDER_ASSETS if it has them all, is used
 * instead. Throws when neither is there and there is no way to get Go, or when the build fails.
 */
export async function buildControlPlane({ log }: BuildOptions): Promise<Programs> {
  const ready = await providedFolder(log);
  if (ready !== undefined) {
    return programsIn(ready);
  }
  return programsIn(await buildTools(controlPlane, log));
}

function programsIn(folder: string): Programs {
  return {
    bin(name) {
      if (!programs.some((program) => program === name)) {
        throw new Error(`the control plane has no program "${name}"; it has ${programs.join(', ')}`);
      }
      return join(folder, name);
    },
  };
}

async function providedFolder(log: (line: string) => void): Promise<string | undefined> {
  const own = process.env['EVENKEEL_ASSETS'];
  const folder = own || process.env['KUBEBUILDER_ASSETS'];
  if (!folder) {
    return undefined;
  }
  const missing = await missingPrograms(folder, programs);
  if (missing.length === 0) {
    return folder;
  }
  if (own) {
    throw new Error(`EVENKEEL_ASSETS lacks ${missing.join(', ')}: add them to ${own}, or unset it to have all built`);
  }
  log(`KUBEBUILDER_ASSETS lacks ${missing.join(', ')}: not using it`);
  return undefined;
}

/** Kubernetes reads its own version from the linker; kwok and metrics-server do not need theirs. */
function versionFlags(goMod: string): readonly string[] {
  const [, version = '', major = '', minor = ''] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(goMod) ?? [];
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const assignments = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${assignments.join(' ')}`];
}
