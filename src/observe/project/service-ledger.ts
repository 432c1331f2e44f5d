import { MAX_CHECKPOINTS, MAX_INSTANCES } from '../../api/v1alpha1/qos-ledger.ts';
import {
  booleanAt,
  integerAt,
  type JsonObject,
  MalformedField,
  nameAt,
  objectAt,
  objectsAt,
  textAt,
  timestampAt,
} from '../../model/json.ts';
import type { ServiceTimes } from '../../model/service-level.ts';
import { type EpochSeconds, type Seconds, seconds } from '../../model/units.ts';
import type { KeptInstance, KeptLedger, LeftPod, MeasuredStarts } from '../../qos/ledger-state.ts';
import { startTimeOf } from '../../qos/startup.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';

/** What plans read of a QoSLedger. */
export const LEDGER_FIELDS: FieldMask = { metadata: METADATA_FIELDS, spec: true, status: true };

interface ProjectedLedger {
  readonly namespace: string;
  /** Of the QoSLedger. */
  readonly name: string;
  /** `undefined` while its status was not written yet. */
  readonly ledger: KeptLedger | undefined;
}

/** The ledger that a QoSLedger holds. Throws MalformedField. */
export function projectServiceLedger(object: JsonObject): ProjectedLedger {
  const { namespace, name } = readMetadata(object, 'QoSLedger', 'Namespaced');
  const spec = objectAt(object, 'spec', '') ?? {};
  const owner = objectAt(spec, 'owner', 'spec') ?? {};
  const status = objectAt(object, 'status', '');
  const identity = {
    namespace,
    owner: {
      kind: nameAt(owner, 'kind', 'spec.owner'),
      name: nameAt(owner, 'name', 'spec.owner'),
      uid: nameAt(owner, 'uid', 'spec.owner'),
    },
    className: nameAt(spec, 'className', 'spec'),
  };
  const ledger = status === undefined ? undefined : readLedger(status, identity);
  return { namespace, name, ledger };
}

function readLedger(status: JsonObject, identity: Pick<KeptLedger, 'namespace' | 'owner' | 'className'>): KeptLedger {
  const asOf = instantAt(status, 'asOf', 'status');
  const admittedAt = instantAt(status, 'admittedAt', 'status');
  if (admittedAt > asOf) {
    throw new MalformedField('status.asOf', 'is before admittedAt');
  }
  const instances = listAt(status, 'instances', MAX_INSTANCES).map((item, index) =>
    readInstance(item, `status.instances[${index}]`, asOf),
  );
  const starts = readStarts(objectAt(status, 'startup', 'status') ?? {});
  const running = instances.filter((instance) => instance.running).length;
  requireCount(status, 'running', running);
  requireCount(status, 'waiting', instances.length - running);
  return {
    ...identity,
    admittedAt,
    asOf,
    times: readTimes(status, 'status'),
    running,
    waiting: instances.length - running,
    instances,
    checkpoints: readCheckpoints(status, asOf),
    preemptions: countAt(status, 'preemptions', 'status'),
    overhead: secondsAt(status, 'overhead', 'status'),
    starts,
    startup: { hot: startTimeOf(starts.hot), cold: startTimeOf(starts.cold) },
    endedAt: timestampAt(status, 'endedAt', 'status'),
    message: textAt(status, 'message', 'status'),
  };
}

function requireCount(status: JsonObject, key: string, counted: number): void {
  const written = countAt(status, key, 'status');
  if (written !== counted) {
    throw new MalformedField(`status.${key}`, `is ${written}, but status.instances has ${counted}`);
  }
}

function readInstance(item: JsonObject, field: string, since: EpochSeconds): KeptInstance {
  const pod = textAt(item, 'pod', field) || undefined;
  const running = booleanAt(item, 'running', field);
  const times = readTimes(item, field);
  const attempt = integerAt(item, 'attempt', field) === undefined ? seconds(0) : secondsAt(item, 'attempt', field);
  if (running && pod === undefined) {
    throw new MalformedField(`${field}.running`, 'is true without a pod');
  }
  if (attempt > times.useful) {
    throw new MalformedField(`${field}.attempt`, 'is more than its useful time');
  }
  return { ...times, pod, running, since, attempt, left: readLeft(objectAt(item, 'left', field), `${field}.left`) };
}

function readLeft(left: JsonObject | undefined, field: string): LeftPod | undefined {
  return left === undefined
    ? undefined
    : {
        pod: nameAt(left, 'pod', field),
        at: instantAt(left, 'at', field),
        preempted: booleanAt(left, 'preempted', field),
      };
}

function readCheckpoints(status: JsonObject, asOf: EpochSeconds): KeptLedger['checkpoints'] {
  const checkpoints = listAt(status, 'checkpoints', MAX_CHECKPOINTS).map((item, index) => {
    const field = `status.checkpoints[${index}]`;
    return { at: instantAt(item, 'at', field), ...readTimes(item, field) };
  });
  const instants = [...checkpoints.map(({ at }) => at), asOf];
  const unordered = instants.findIndex((at, index) => at < (instants[index - 1] ?? at));
  if (unordered >= 0) {
    throw new MalformedField('status.checkpoints', 'are not in the order of their instants, up to asOf');
  }
  return checkpoints;
}

function readStarts(startup: JsonObject): KeptLedger['starts'] {
  return { hot: readMeasured(startup, 'hot'), cold: readMeasured(startup, 'cold') };
}

/** Without squares, which an older operator did not write, all starts are taken to have been alike. */
function readMeasured(startup: JsonObject, key: string): MeasuredStarts | undefined {
  const field = `status.startup.${key}`;
  const starts = objectAt(startup, key, 'status.startup');
  if (starts === undefined) {
    return undefined;
  }
  const [count, total] = [countAt(starts, 'count', field), secondsAt(starts, 'total', field)];
  const squares = starts['squares'] === undefined ? total ** 2 / Math.max(1, count) : countAt(starts, 'squares', field);
  return { count, total, squares };
}

function readTimes(parent: JsonObject, field: string): ServiceTimes {
  return {
    useful: secondsAt(parent, 'useful', field),
    discarded: secondsAt(parent, 'discarded', field),
    pending: secondsAt(parent, 'pending', field),
  };
}

function listAt(status: JsonObject, key: string, most: number): readonly JsonObject[] {
  const list = objectsAt(status, key, 'status');
  if (list.length > most) {
    throw new MalformedField(`status.${key}`, `has ${list.length} entries: at most ${most}`);
  }
  return list;
}

function secondsAt(parent: JsonObject, key: string, field: string): Seconds {
  return seconds(countAt(parent, key, field));
}

function countAt(parent: JsonObject, key: string, field: string): number {
  const count = integerAt(parent, key, field);
  if (count === undefined || count < 0) {
    throw new MalformedField(`${field}.${key}`, count === undefined ? 'is missing' : `${count} is negative`);
  }
  return count;
}

function instantAt(parent: JsonObject, key: string, field: string): EpochSeconds {
  const instant = timestampAt(parent, key, field);
  if (instant === undefined) {
    throw new MalformedField(`${field}.${key}`, 'is missing');
  }
  return instant;
}
