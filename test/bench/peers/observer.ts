import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ControlPlane } from '../../control-plane/start.ts';

/** What was seen of a pod; times in milliseconds, when word of it came. */
export interface PodTrack {
  /** `namespace/name`. */
  readonly name: string;
  /** UID of its controller. */
  readonly owner: string;
  /** Millicores that it uses, by its annotation for kwok. */
  readonly usage: number;
  readonly seenAt: number;
  node?: string;
  boundAt?: number;
  readyAt?: number;
  goneAt?: number;
}

/** Watches the pods of a namespace from outside. */
export interface Observer {
  /** All that were ever seen, in that order. */
  readonly pods: () => readonly PodTrack[];
  stop(): Promise<void>;
}

/** Of watch events: each has a type and an object. */
const COLUMNS = [
  'TYPE:.type',
  'NAME:.object.metadata.name',
  'UID:.object.metadata.uid',
  'OWNER:.object.metadata.ownerReferences[0].uid',
  'USAGE:.object.metadata.annotations.kwok\\.x-k8s\\.io/usage-cpu',
  'NODE:.object.spec.nodeName',
  'READY:.object.status.conditions[?(@.type=="Ready")].status',
].join(',');

/** Starts to watch the pods of `namespace`; resolves once those that are there are known. */
export async function observe(cp: ControlPlane, namespace: string): Promise<Observer> {
  const tracks = new Map<string, PodTrack>();
  const args = ['get', 'pods', '-n', namespace, '--watch', '--output-watch-events', '--no-headers'];
  const child = spawn(cp.bin('kubectl'), [...args, '-o', `custom-columns=${COLUMNS}`], {
    env: { ...process.env, KUBECONFIG: cp.kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cp.adopt(child);
  createInterface({ input: child.stdout }).on('line', (line) => {
    note(tracks, namespace, line, Date.now());
  });
  await once(child.stdout, 'data');
  return {
    pods: () => [...tracks.values()],
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}

const NOTHING = '<none>';

function note(tracks: Map<string, PodTrack>, namespace: string, line: string, now: number): void {
  const [event, name, uid, owner, usage = '', node = NOTHING, ready] = line.trim().split(/\s+/);
  if (uid === undefined) {
    throw new Error(`kubectl prints what is no pod: ${line}`);
  }
  const known = tracks.get(uid) ?? {
    name: `${namespace}/${name}`,
    owner: owner ?? '',
    usage: Number.parseInt(usage, 10) || 0,
    seenAt: now,
  };
  tracks.set(uid, known);
  if (node !== NOTHING) {
    known.node = node;
    known.boundAt ??= now;
  }
  if (ready === 'True') {
    known.readyAt ??= now;
  }
  if (event === 'DELETED') {
    known.goneAt = now;
  }
}
