import { createHash } from 'node:crypto';
import type { QoSLedgerSpec, QoSLedgerStatus } from '../api/v1alpha1/qos-ledger.ts';
import { formatDecimal } from '../model/decimal.ts';
import { formatDuration } from '../model/duration.ts';
import { formatInstant } from '../model/instant.ts';
import type { OwnerRef } from '../model/pod.ts';
import type { ServiceClass } from '../model/service-level.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { KeptInstance, KeptLedger } from '../qos/ledger-state.ts';
import { serviceLevelAt } from '../qos/service-level.ts';

/** Name of the QoSLedger of a workload, which it has again when it comes back. Kinds have no hyphen. */
export function ledgerName({ kind, name }: Pick<OwnerRef, 'kind' | 'name'>): string {
  const whole = `${kind.toLowerCase()}-${name}`;
  if (whole.length <= MAX_NAME) {
    return whole;
  }
  const mark = createHash('sha256').update(whole).digest('hex').slice(0, 12);
  return `${whole.slice(0, MAX_NAME - mark.length - 1)}-${mark}`;
}

/** Longest name of an object. */
const MAX_NAME = 253;

/** `spec` of the QoSLedger that holds this ledger. */
export function ledgerSpec({ owner, className }: Pick<KeptLedger, 'owner' | 'className'>): QoSLedgerSpec {
  const { kind, name, uid } = owner;
  return { owner: { kind, name, uid }, className };
}

/** `status` of the QoSLedger that holds this ledger: all that it is carried on from, and a few words for people. */
export function ledgerStatus(ledger: KeptLedger, terms: ServiceClass | undefined): QoSLedgerStatus {
  const { admittedAt, asOf, times, running, waiting, instances, checkpoints, preemptions, overhead } = ledger;
  const { starts, endedAt, message } = ledger;
  return {
    ...(terms === undefined ? {} : termsFields(ledger, terms)),
    admittedAt: formatInstant(admittedAt),
    asOf: formatInstant(asOf),
    ...times,
    running,
    waiting,
    instances: instances.map(toInstance),
    checkpoints: checkpoints.map(({ at, ...rest }) => ({ at: formatInstant(at), ...rest })),
    preemptions,
    overhead,
    ...startupField(starts),
    ...(endedAt === undefined ? {} : { endedAt: formatInstant(endedAt) }),
    ...(message === undefined ? {} : { message }),
  };
}

/** What people read in a list; where nothing was observed yet, or nothing can be violated, it is left out. */
function termsFields(
  ledger: KeptLedger,
  terms: ServiceClass,
): Pick<QoSLedgerStatus, 'slo' | 'availability' | 'timeToViolate'> {
  const { availability, timeToViolate } = serviceLevelAt(ledger, terms, ledger.asOf);
  return {
    slo: formatDecimal(terms.slo),
    ...(availability === undefined ? {} : { availability: availability.toFixed(4) }),
    ...(Number.isFinite(timeToViolate) ? { timeToViolate: signedDuration(timeToViolate) } : {}),
  };
}

function signedDuration(span: Seconds): string {
  return span < 0 ? `-${formatDuration(seconds(-span))}` : formatDuration(span);
}

function toInstance({
  useful,
  discarded,
  pending,
  pod,
  running,
  attempt,
  left,
}: KeptInstance): QoSLedgerStatus['instances'][number] {
  return {
    useful,
    discarded,
    pending,
    running,
    ...(pod === undefined ? {} : { pod }),
    ...(attempt === 0 ? {} : { attempt }),
    ...(left === undefined ? {} : { left: { ...left, at: formatInstant(left.at) } }),
  };
}

function startupField({ hot, cold }: KeptLedger['starts']): Pick<QoSLedgerStatus, 'startup'> {
  const startup = { ...(hot === undefined ? {} : { hot }), ...(cold === undefined ? {} : { cold }) };
  return hot === undefined && cold === undefined ? {} : { startup };
}
