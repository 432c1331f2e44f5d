import { API_VERSION } from '../../../src/api/v1alpha1/schema.ts';
import type { ServiceClass } from '../../../src/model/service-level.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { projectServiceLedger } from '../../../src/observe/project/service-ledger.ts';
import { carryOn } from '../../../src/qos/ledger.ts';
import { withoutTrace, withSighting } from '../../../src/qos/ledger-history.ts';
import type { PodRecord } from '../../../src/qos/ledger-record.ts';
import type { KeptLedger } from '../../../src/qos/ledger-state.ts';
import { ledgerSpec, ledgerStatus } from '../../../src/report/ledger-resource.ts';
import { EPOCH, type World } from './world.ts';

/** Keeps a ledger of a world by what its server records, and remembers nothing but what was stored. */
export interface TestKeeper {
  readonly ledger: KeptLedger | undefined;
  /** Whether it hears of new versions. */
  isUp: boolean;
  look(): void;
  /** Forgets everything but what the QoSLedger holds. */
  crash(): void;
}

/** A keeper whose clock is `skew` seconds ahead of the server's. */
export function createTestKeeper(world: World, terms: ServiceClass, skew = 0): TestKeeper {
  const history = new Map<string, PodRecord>();
  const counted = new Set<string>();
  let ledger: KeptLedger | undefined;

  function note(uid: string): void {
    const seen = world.sighting(uid);
    const known = history.get(uid);
    if (seen !== undefined) {
      history.set(uid, withSighting(known, seen));
    } else if (known !== undefined) {
      history.set(uid, withoutTrace(known, epochSeconds(EPOCH + Math.floor(world.now / 1000) + skew)));
    }
  }

  const keeper: TestKeeper = {
    get ledger() {
      return ledger;
    },
    isUp: true,
    look() {
      for (const uid of new Set([...world.uids(), ...history.keys()])) {
        note(uid);
      }
      const now = epochSeconds(EPOCH + world.now / 1000 + skew);
      const pods = [...history.values()].filter(({ uid }) => !counted.has(uid));
      const record = { ...world.request(), pods };
      ledger = carryOn(ledger, { terms, createdAt: epochSeconds(0) }, record, new Set(), now);
      for (const { uid } of pods.filter(({ end }) => end !== undefined)) {
        counted.add(uid);
      }
    },
    crash() {
      history.clear();
      counted.clear();
      ledger = ledger === undefined ? undefined : storedAndRead(ledger, terms);
    },
  };
  world.onVersion = (uid) => {
    if (keeper.isUp) {
      note(uid);
    }
  };
  return keeper;
}

/** The ledger after it went through its QoSLedger. */
export function storedAndRead(ledger: KeptLedger, terms: ServiceClass): KeptLedger {
  const resource: unknown = {
    apiVersion: API_VERSION,
    kind: 'QoSLedger',
    metadata: { namespace: ledger.namespace, name: 'deployment-web' },
    spec: ledgerSpec(ledger),
    status: ledgerStatus(ledger, terms),
  };
  const read = projectServiceLedger(JSON.parse(JSON.stringify(resource)));
  if (read.ledger === undefined) {
    throw new Error('the ledger has no status');
  }
  return read.ledger;
}
