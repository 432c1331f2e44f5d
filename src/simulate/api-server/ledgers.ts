import type { QoSLedger } from '../../api/v1alpha1/qos-ledger.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import type { ServiceClass, ServiceLevels } from '../../model/service-level.ts';
import { ConflictError, type LedgerStore, type StoredLedger } from '../../ports.ts';
import type { KeptLedger } from '../../qos/ledger-state.ts';
import { ledgerName, ledgerSpec, ledgerStatus } from '../../report/ledger-resource.ts';

/** QoSLedgers on the modelled cluster. */
export interface LedgerObjects {
  readonly store: LedgerStore;
  /** Those that are being kept, by the UID of their workload. */
  readonly current: () => ServiceLevels['ledgers'];
}

/** No ledgers yet. */
export function createLedgerObjects(): LedgerObjects {
  const stored = new Map<string, StoredLedger>();
  const current = new Map<string, KeptLedger>();
  let version = 0;
  const put = (ledger: KeptLedger, terms: ServiceClass | undefined): StoredLedger => {
    version += 1;
    const { namespace } = ledger;
    const name = ledgerName(ledger.owner);
    const object = { namespace, name, resource: resourceOf(ledger, terms, version), ledger, problem: undefined };
    stored.set(`${namespace}/${name}`, object);
    if (ledger.endedAt === undefined) {
      current.set(ledger.owner.uid, ledger);
    } else {
      current.delete(ledger.owner.uid);
    }
    return object;
  };
  const store: LedgerStore = {
    list: async () => [...stored.values()],
    get: async ({ namespace, name }) => stored.get(`${namespace}/${name}`),
    async create(ledger, terms) {
      if (stored.has(`${ledger.namespace}/${ledgerName(ledger.owner)}`)) {
        throw new ConflictError(`ledger of ${ledger.owner.name} already exists`);
      }
      return put(ledger, terms);
    },
    async write(known, ledger, terms) {
      if (stored.get(`${known.namespace}/${known.name}`) !== known) {
        throw new ConflictError(`ledger ${known.name} is gone or newer`);
      }
      return put(ledger, terms);
    },
    async remove({ namespace, name, resource }) {
      stored.delete(`${namespace}/${name}`);
      current.delete(resource.spec.owner.uid);
    },
  };
  return { store, current: () => current };
}

/** Its status is worked out when somebody looks at it. */
function resourceOf(ledger: KeptLedger, terms: ServiceClass | undefined, version: number): QoSLedger {
  const { namespace, owner } = ledger;
  let status: QoSLedger['status'];
  return {
    apiVersion: API_VERSION,
    kind: 'QoSLedger',
    metadata: { namespace, name: ledgerName(owner), resourceVersion: String(version) },
    spec: ledgerSpec(ledger),
    get status() {
      status ??= ledgerStatus(ledger, terms);
      return status;
    },
  };
}
