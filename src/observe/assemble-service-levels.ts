import { compareText } from '../model/compare-text.ts';
import type { AssignedClasses, ServiceClass, ServiceLedger, ServiceLevels } from '../model/service-level.ts';
import type { EpochSeconds } from '../model/units.ts';
import type { Collection } from './collection.ts';
import { sortByKey } from './order.ts';
import type { ProjectedServiceClass } from './project/service-class.ts';

/** A ledger may be this much younger than the snapshot, in seconds: lists take a while, and dates are cut to seconds. */
const TOLERANCE = 60;

/**
 * What workloads were promised and what they got, as ServiceClasses and QoSLedgers say. A ledger that has ended, has no
 * class, or is from the future takes no part: its workload is then neither urgent nor a victim (execution.md, failure
 * model).
 */
export function assembleServiceLevels(
  collection: Collection,
  takenAt: EpochSeconds,
  problems: Set<string>,
): ServiceLevels {
  const promised = collection.of('ServiceClass');
  const classes = new Map([...sortByKey(promised)].map(([name, { terms }]) => [name, terms]));
  return {
    classes,
    ledgers: assembleLedgers(collection, classes, takenAt, problems),
    ...assignClasses([...promised.values()], problems),
  };
}

/** By UID of the workload, in the order of UIDs. */
function assembleLedgers(
  collection: Collection,
  classes: ReadonlyMap<string, ServiceClass>,
  takenAt: EpochSeconds,
  problems: Set<string>,
): ReadonlyMap<string, ServiceLedger> {
  const byOwner = new Map<string, ServiceLedger>();
  for (const [key, { ledger }] of sortByKey(collection.of('QoSLedger'))) {
    if (ledger === undefined || ledger.endedAt !== undefined) {
      continue;
    }
    const problem = troubleOf(ledger, classes, takenAt);
    if (problem !== undefined) {
      problems.add(`QoSLedger ${key}: ${problem}`);
    } else if (byOwner.has(ledger.owner.uid)) {
      problems.add(`QoSLedger ${key}: another ledger is of the same workload: the first one counts`);
    } else {
      byOwner.set(ledger.owner.uid, ledger);
    }
  }
  return sortByKey(byOwner);
}

function troubleOf(
  { className, asOf }: ServiceLedger,
  classes: ReadonlyMap<string, ServiceClass>,
  takenAt: EpochSeconds,
): string | undefined {
  if (!classes.has(className)) {
    return `there is no ServiceClass ${JSON.stringify(className)}: the ledger takes no part`;
  }
  return asOf > takenAt + TOLERANCE ? 'status.asOf: is in the future: the ledger takes no part' : undefined;
}

/**
 * The classes of pods that name none. Where two claim a PriorityClass, or to be the default, the more important one has it, then
 * the first by name; `problems` says so of the others.
 */
export function assignClasses(classes: readonly ProjectedServiceClass[], problems: Set<string>): AssignedClasses {
  const ranked = [...classes].sort(
    ({ terms: left }, { terms: right }) => left.importance - right.importance || compareText(left.name, right.name),
  );
  const [first, ...others] = ranked.filter(({ isDefault }) => isDefault).map(({ terms }) => terms.name);
  for (const name of others) {
    problems.add(`ServiceClass ${name}: spec.default: ServiceClass ${first} is the default: let one class be it`);
  }
  return { byPriorityClass: claimPriorityClasses(ranked, problems), byDefault: first };
}

function claimPriorityClasses(
  ranked: readonly ProjectedServiceClass[],
  problems: Set<string>,
): ReadonlyMap<string, string> {
  const claimed = new Map<string, string>();
  for (const { terms, priorityClassNames } of ranked) {
    for (const name of priorityClassNames) {
      const holder = claimed.get(name);
      if (holder === undefined) {
        claimed.set(name, terms.name);
      } else {
        problems.add(
          `ServiceClass ${terms.name}: spec.priorityClassNames: ${JSON.stringify(name)} belongs to ServiceClass ${holder}: name it in one class`,
        );
      }
    }
  }
  return sortByKey(claimed);
}
