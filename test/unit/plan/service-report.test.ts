import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { serviceReport } from '../../../src/plan/service-report.ts';
import { CLASS_LABEL } from '../../../src/qos/class-of.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aLedger, aServiceClass, serviceLevels } from '../../support/builders/service-levels.ts';
import { aPod, aSnapshot, aWorkload, constraints, NOW, type PodFields, selecting } from '../../support/builders.ts';

const labels = { [CLASS_LABEL]: 'batch' };
const { scope } = someOptions();
const batch = aServiceClass();

function promised(name: string, fields: PodFields = {}) {
  return aPod(name, { owner: name, labels, ...fields });
}

function ledgerOf(name: string, fields: Parameters<typeof aLedger>[0] = {}) {
  return aLedger({ owner: { kind: 'ReplicaSet', name, uid: `uid-${name}` }, times: { useful: 100 }, ...fields });
}

describe('serviceReport', () => {
  it('counts each workload once, however many pods it has', () => {
    const pods = [promised('a-1', { owner: 'a' }), promised('a-2', { owner: 'a' }), promised('b')];
    const levels = serviceLevels([batch], [ledgerOf('a'), ledgerOf('b')]);
    const { classes, unkept } = serviceReport(aSnapshot({ pods, serviceLevels: levels }), scope);
    expect(classes).toMatchObject([{ serviceClass: batch, requests: 2 }]);
    expect(unkept).toEqual([]);
  });

  it('says who waits for a node and for how long, and what is owed by requests of CPU', () => {
    const owed = aServiceClass({ slo: 0.9, penalties: [{ below: 0.9, surcharge: 0.5 }] });
    const requests = constraints({ requests: { cpu: 2_000 } });
    const pods = [
      promised('a-1', { owner: 'a', constraints: requests }),
      promised('a-2', { owner: 'a', nodeName: undefined, phase: 'Pending', createdAt: epochSeconds(NOW - 40) }),
      promised('a-3', { owner: 'a', nodeName: undefined, phase: 'Pending', createdAt: epochSeconds(NOW - 20) }),
    ];
    const levels = serviceLevels([owed], [ledgerOf('a', { times: { useful: 80, pending: 20 } })]);
    const [found] = serviceReport(aSnapshot({ pods, serviceLevels: levels }), scope).classes;
    expect(found).toMatchObject({ waiting: 2, longestWait: 40 });
    // (0.9 - 0.8) x 100 s x 2 cores x 1.5
    expect(found?.penalty).toBeCloseTo(30, 9);
  });

  it('finds the ledger of the Deployment above a ReplicaSet', () => {
    const deployment = aWorkload('web', { kind: 'Deployment' });
    const owner = { kind: 'Deployment', name: 'web', uid: deployment.uid };
    const set = aWorkload('web-1', { owner });
    const levels = serviceLevels([batch], [aLedger({ owner })]);
    const fields = { pods: [promised('web-1')], workloads: [deployment, set] };
    expect(serviceReport(aSnapshot({ ...fields, serviceLevels: levels }), scope).classes).toHaveLength(1);
    const without = aSnapshot({ ...fields, serviceLevels: serviceLevels([batch]) });
    expect(serviceReport(without, scope).unkept).toEqual(['Deployment shop/web']);
  });

  it('leaves out what is not in scope, without a class, or of nobody who could have a ledger', () => {
    const pods = [
      promised('other', { labels: { ...labels, app: 'other' } }),
      aPod('plain', { owner: 'plain' }),
      promised('alone', { owner: undefined }),
      promised('foreign', { owner: { kind: 'Rollout', name: 'x', uid: 'uid-x' } }),
      promised('system', { namespace: 'kube-system' }),
    ];
    const narrow = { ...scope, podSelector: selecting({ app: 'web' }), excludedNamespaces: new Set(['kube-system']) };
    const snapshot = aSnapshot({ pods, serviceLevels: serviceLevels([batch]) });
    expect(serviceReport(snapshot, narrow)).toEqual({ classes: [], unkept: [], unknownClasses: [] });
  });

  it('names workloads whose ledger is missing, or from the future', () => {
    const pods = [promised('b'), promised('a')];
    const levels = serviceLevels([batch], [ledgerOf('a', { asOf: epochSeconds(NOW + 6) })]);
    const { classes, unkept } = serviceReport(aSnapshot({ pods, serviceLevels: levels }), scope);
    expect([classes, unkept]).toEqual([[], ['ReplicaSet shop/a', 'ReplicaSet shop/b']]);
  });

  it('gives the ledger of a new workload a minute to come', () => {
    const at = (age: number) => {
      const pods = [promised('a', { createdAt: epochSeconds(NOW - age) })];
      return serviceReport(aSnapshot({ pods, serviceLevels: serviceLevels([batch]) }), scope).unkept;
    };
    expect(at(59)).toEqual([]);
    expect(at(60)).toEqual(['ReplicaSet shop/a']);
  });

  it('names classes that pods name and nobody has made', () => {
    const pods = [promised('a', { labels: { [CLASS_LABEL]: 'bacth' } }), promised('b', { labels: {} })];
    const namespaces = new Map([['shop', new Map([[CLASS_LABEL, 'absent']])]]);
    const snapshot = aSnapshot({ pods, namespaces, serviceLevels: serviceLevels([batch]) });
    expect(serviceReport(snapshot, scope)).toEqual({ classes: [], unkept: [], unknownClasses: ['absent', 'bacth'] });
  });
});
