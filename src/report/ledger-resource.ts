import type { QoSLedgerSpec, QoSLedgerStatus } from '../api/v1alpha1/qos-ledger.ts';
import { formatDecimal } from '../model/decimal.ts';
import { formatInstant } from '../model/instant.ts';
import type { ServiceClass } from '../model/service-level.ts';
import type { KeptInstance, KeptLedger, StartMean } from '../qos/ledger-state.ts';

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
    ...(terms === undefined ? {} : { slo: formatDecimal(terms.slo) }),
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
  const means = { ...meanField('hot', hot), ...meanField('cold', cold) };
  return hot === undefined && cold === undefined ? {} : { startup: means };
}

function meanField(key: 'hot' | 'cold', mean: StartMean | undefined): NonNullable<QoSLedgerStatus['startup']> {
  return mean === undefined ? {} : { [key]: { count: mean.count, total: mean.total } };
}
