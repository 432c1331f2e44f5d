import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionFlags } from '../control-plane/build.ts';
import { buildTools, type ToolModule } from '../control-plane/go-programs.ts';

const HERE = import.meta.dirname;

/** Our own programs; their text is part of the flags, so that another one is built when it changes. */
const SOURCES = ['burner/main.go', 'pause/main.go'];

const KUBELETS: ToolModule = {
  title: 'the kubelet',
  folder: HERE,
  cache: 'kubelets',
  programs: ['kubelet', 'burner', 'pause'],
  renamed: {},
  firstBuild: 'about six minutes',
  flags(goMod) {
    const hash = createHash('sha256');
    for (const source of SOURCES) {
      hash.update(readFileSync(join(HERE, source)));
    }
    const [trimpath = '', vcs = '', ldflags = '', assignments = ''] = versionFlags(goMod);
    return [trimpath, vcs, ldflags, `${assignments} -X main.source=${hash.digest('hex').slice(0, 16)}`];
  },
};

/** What a node needs of the machine, and the package of Debian that has it. */
const NEEDED: readonly (readonly [string, string])[] = [
  ['/usr/bin/containerd', 'containerd'],
  ['/usr/sbin/runc', 'runc'],
  ['/usr/lib/cni/bridge', 'containernetworking-plugins'],
  ['/usr/sbin/ip', 'iproute2'],
  ['/usr/bin/unshare', 'util-linux'],
];

/** Where kubelet, burner and pause are; builds them when they are not there yet. */
export function buildKubelets(log: (line: string) => void): Promise<string> {
  return buildTools(KUBELETS, log);
}

/** Throws an Error that says what to install, or that the machine cannot run kubelets at all. */
export function checkMachine(): void {
  const missing = NEEDED.filter(([file]) => !exists(file)).map(([, name]) => name);
  if (missing.length > 0) {
    throw new Error(
      `real kubelets need packages of Debian: run "npm run setup:kubelets" as root, which installs ${missing.join(', ')} and starts no service`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new Error('real kubelets need root: namespaces, control groups and mounts are made');
  }
  if (!exists('/sys/fs/cgroup/memory')) {
    throw new Error('the nodes of this campaign have control groups v1, which are not mounted in /sys/fs/cgroup');
  }
}

function exists(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
