import { integerAt, type JsonObject, objectAt, objectsAt, textAt, timestampAt } from '../../model/json.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import type { PodSighting } from '../../qos/ledger-history.ts';
import type { PodEnd, ReadyMark } from '../../qos/ledger-record.ts';
import { readCondition, readController, readMetadata } from './metadata.ts';
import { normalizeImageName } from './scheduling.ts';

/** One version of a pod, as far as ledgers are concerned. */
export interface OwnedSighting {
  readonly seen: PodSighting;
  /** UID of its controller. */
  readonly owner: string;
  readonly priorityClassName: string | undefined;
}

/**
 * What one version of a pod says of its life; `undefined` without a controller, since nobody was promised anything then.
 * `imagesOn` gives the images on a node. Throws MalformedField.
 */
export function projectPodSighting(
  object: JsonObject,
  imagesOn: (node: string) => ReadonlySet<string> | undefined,
): OwnedSighting | undefined {
  const metadata = readMetadata(object, 'Pod', 'Namespaced');
  const owner = readController(metadata)?.uid;
  if (owner === undefined) {
    return undefined;
  }
  const spec = objectAt(object, 'spec', '') ?? {};
  const status = objectAt(object, 'status', '') ?? {};
  const containers = objectsAt(status, 'containerStatuses', 'status').map(readContainer);
  const ready = readCondition(status, 'Ready');
  const scheduled = readCondition(status, 'PodScheduled');
  const startedAt = containers.some((each) => each.startedAt === undefined)
    ? undefined
    : latest(containers, 'startedAt');
  const mark: ReadyMark | undefined =
    ready?.since === undefined
      ? undefined
      : { ready: ready.isTrue, since: ready.since, startedAt, stoppedAt: latest(containers, 'stoppedAt') };
  const node = textAt(spec, 'nodeName', 'spec') ?? '';
  const hasStarted = containers.some((each) => each.startedAt !== undefined) || ready?.isTrue === true;
  const seen: PodSighting = {
    uid: metadata.uid,
    createdAt: metadata.createdAt,
    scheduledAt: scheduled?.isTrue === true ? scheduled.since : undefined,
    mark,
    end: readEnd(object, status, latest(containers, 'finishedAt') ?? ready?.since ?? metadata.createdAt),
    hot: node === '' || hasStarted ? undefined : isHot(spec, imagesOn(node)),
  };
  return { seen, owner, priorityClassName: textAt(spec, 'priorityClassName', 'spec') || undefined };
}

interface Container {
  readonly startedAt: EpochSeconds | undefined;
  /** When it stopped before it was started again. */
  readonly stoppedAt: EpochSeconds | undefined;
  /** When it stopped for good, or for now. */
  readonly finishedAt: EpochSeconds | undefined;
}

function readContainer(container: JsonObject, index: number): Container {
  const field = `status.containerStatuses[${index}]`;
  const state = objectAt(container, 'state', field) ?? {};
  const running = objectAt(state, 'running', `${field}.state`);
  const terminated = objectAt(state, 'terminated', `${field}.state`) ?? {};
  const lastState = objectAt(container, 'lastState', field) ?? {};
  const last = objectAt(lastState, 'terminated', `${field}.lastState`) ?? {};
  return {
    startedAt: timestampAt(running ?? terminated, 'startedAt', `${field}.state.${running ? 'running' : 'terminated'}`),
    stoppedAt: timestampAt(last, 'finishedAt', `${field}.lastState.terminated`),
    finishedAt: timestampAt(terminated, 'finishedAt', `${field}.state.terminated`),
  };
}

function latest(containers: readonly Container[], key: keyof Container): EpochSeconds | undefined {
  const instants = containers.flatMap((container) => container[key] ?? []);
  return instants.length === 0 ? undefined : epochSeconds(Math.max(...instants));
}

/** Asked to go: `deletionTimestamp` less the time that it was given (registry/core/pod, rest.BeforeDelete adds it). */
function readEnd(object: JsonObject, status: JsonObject, finishedAt: EpochSeconds): PodEnd | undefined {
  const metadata = objectAt(object, 'metadata', '') ?? {};
  const deletion = timestampAt(metadata, 'deletionTimestamp', 'metadata');
  const grace = integerAt(metadata, 'deletionGracePeriodSeconds', 'metadata') ?? 0;
  const phase = textAt(status, 'phase', 'status');
  const finished: PodEnd | undefined =
    phase === 'Succeeded' || phase === 'Failed' ? { at: finishedAt, how: phase } : undefined;
  const asked: PodEnd | undefined =
    deletion === undefined ? undefined : { at: epochSeconds(deletion - Math.max(0, grace)), how: 'Deleted' };
  return asked?.at !== undefined && (finished?.at === undefined || asked.at < finished.at) ? asked : finished;
}

function isHot(spec: JsonObject, images: ReadonlySet<string> | undefined): boolean | undefined {
  const needed = (['initContainers', 'containers'] as const).flatMap((list) =>
    objectsAt(spec, list, 'spec').map((each, index) => textAt(each, 'image', `spec.${list}[${index}]`) ?? ''),
  );
  return images && needed.every((image) => images.has(normalizeImageName(image)));
}
