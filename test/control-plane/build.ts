import { join } from 'node:path';
import { buildTools, missingPrograms, type ToolModule } from './go-programs.ts';
import { DEFAULT_VERSION, type KubernetesVersion } from './kubernetes-versions.ts';

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

/** Where all the programs are. */
export interface Programs {
  /** The path of a program; throws when there is none of that name. */
  bin(name: string): string;
}

/** Where `buildControlPlane` reports its progress, line by line. */
export interface BuildOptions {
  readonly log: (line: string) => void;
  /** Whose kube-apiserver, kube-controller-manager and kube-scheduler these are to be; default that of go.mod. */
  readonly kubernetes?: KubernetesVersion;
}

/** The programs that a version of Kubernetes has of its own; the others serve all versions. */
const ownPrograms: readonly string[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

const controlPlane: ToolModule = {
  title: 'the control plane',
  folder: import.meta.dirname,
  cache: 'control-plane',
  programs,
  renamed: { server: 'etcd' },
  firstBuild: '4 to 5 minutes',
  flags: versionFlags,
};

/** Each version but the one of go.mod has a module of its own, in which its k8s.io modules fit one another. */
function ownModule(version: KubernetesVersion): ToolModule {
  return {
    title: `Kubernetes ${version}`,
    folder: join(import.meta.dirname, `kubernetes-${version}`),
    cache: `kubernetes-${version}`,
    programs: ownPrograms,
    renamed: {},
    firstBuild: '3 to 4 minutes',
    flags: versionFlags,
  };
}

/**
 * The programs of the control plane, compiled from the Go modules pinned in go.mod. They are kept in the user's cache
 * folder under a key made of go.mod, go.sum, the Go version and the build flags, so that only the first call builds
 * (four to five minutes on two cores, 2 GB of memory at the peak); concurrent callers wait for one another.
 * A folder of ready programs named by EVENKEEL_ASSETS, or by envtest's KUBEBUILDER_ASSETS if it has them all, is used
 * instead, except for what another version of Kubernetes has of its own. Throws when neither is there and there is no way
 * to get Go, or when the build fails.
 */
export async function buildControlPlane({ log, kubernetes = DEFAULT_VERSION }: BuildOptions): Promise<Programs> {
  const shared = (await providedFolder(log)) ?? (await buildTools(controlPlane, log));
  if (kubernetes === DEFAULT_VERSION) {
    return programsIn(() => shared);
  }
  const own = await buildTools(ownModule(kubernetes), log);
  return programsIn((name) => (ownPrograms.includes(name) ? own : shared));
}

function programsIn(folderOf: (name: string) => string): Programs {
  return {
    bin(name) {
      if (!programs.some((program) => program === name)) {
        throw new Error(`the control plane has no program "${name}"; it has ${programs.join(', ')}`);
      }
      return join(folderOf(name), name);
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

/** Flags of `go build` for programs of Kubernetes, which read their own version from the linker; kwok and metrics-server do not need theirs. */
export function versionFlags(goMod: string): readonly string[] {
  const [, version = '', major = '', minor = ''] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(goMod) ?? [];
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const assignments = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${assignments.join(' ')}`];
}
