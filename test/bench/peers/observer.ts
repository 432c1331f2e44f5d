import { listPods, type PodState } from '../../control-plane/cluster-state.ts';
import type { ControlPlane } from '../../control-plane/start.ts';
import { waitUntil } from '../../control-plane/wait-until.ts';
import { watchPods } from '../../support/object-watch.ts';

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

/** Watches the pods of some namespaces from outside. */
export interface Observer {
  /** All that were ever seen, in that order. */
  readonly pods: () => readonly PodTrack[];
  stop(): Promise<void>;
}

/** Starts to watch the pods of `namespaces`; resolves once those that are there are known. */
export async function observe(cp: ControlPlane, namespaces: ReadonlySet<string>): Promise<Observer> {
  const tracks = new Map<string, PodTrack>();
  const there = (await listPods(cp)).filter(({ metadata }) => namespaces.has(metadata.namespace ?? ''));
  const watch = await watchPods(cp, ({ type, object }) => {
    if (namespaces.has(object.metadata.namespace ?? '')) {
      const now = Date.now();
      const track = note(tracks, object, now);
      if (type === 'DELETED') {
        track.goneAt = now;
      }
    }
  });
  const unknown = async () => {
    const left = there.filter(({ metadata }) => !tracks.has(metadata.uid));
    return left.length === 0 ? undefined : `${left.length} of ${there.length} pods`;
  };
  await waitUntil('word of all pods', unknown, { timeoutMilliseconds: 60_000, log: () => undefined });
  return { pods: () => [...tracks.values()], stop: watch.stop };
}

/** Notes what is news of a pod. */
function note(tracks: Map<string, PodTrack>, { metadata, spec, status }: PodState, now: number): PodTrack {
  const known = tracks.get(metadata.uid) ?? {
    name: `${metadata.namespace}/${metadata.name}`,
    owner: metadata.ownerReferences?.[0]?.uid ?? '',
    usage: Number.parseInt(metadata.annotations?.['kwok.x-k8s.io/usage-cpu'] ?? '', 10) || 0,
    seenAt: now,
  };
  tracks.set(metadata.uid, known);
  if (spec.nodeName !== undefined) {
    known.node = spec.nodeName;
    known.boundAt ??= now;
  }
  if (status.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True')) {
    known.readyAt ??= now;
  }
  return known;
}
