import { at, indicesWhere, itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import type { RepairOptions } from '../options.ts';
import type { PlanningInput } from '../planning-input.ts';
import { duplicatesRule } from './duplicates.ts';
import type { RepairGuard } from './guard.ts';
import { maxLifetimeRule } from './max-lifetime.ts';
import { preferredNodeAffinityRule, requiredNodeAffinityRule } from './node-affinity.ts';
import { podAntiAffinityRule } from './pod-anti-affinity.ts';
import { restartsRule } from './restarts.ts';
import type { RepairRule, Scene } from './rule.ts';
import { taintRule } from './taints.ts';
import { topologySpreadRule } from './topology-spread.ts';

/** The rules of a policy in the order in which they are repaired: what the scheduler would refuse first, and what it only ranks last. */
export function rulesOf(options: RepairOptions, { hosts }: PlanningInput): readonly RepairRule[] {
  const { taints, nodeAffinity, podAntiAffinity, topologySpread, duplicates, restarts, maxLifetime } = options;
  return [
    ...(taints === undefined ? [] : [taintRule(taints)]),
    ...(nodeAffinity === undefined ? [] : [requiredNodeAffinityRule()]),
    ...(podAntiAffinity ? [podAntiAffinityRule()] : []),
    ...(topologySpread === undefined ? [] : [topologySpreadRule(topologySpread)]),
    ...(nodeAffinity === 'Preferred' ? [preferredNodeAffinityRule(hosts)] : []),
    ...(duplicates ? [duplicatesRule()] : []),
    ...(restarts === undefined ? [] : [restartsRule(restarts)]),
    ...(maxLifetime === undefined ? [] : [maxLifetimeRule(maxLifetime)]),
  ];
}

/** Where the snapshot has the pods. */
export function sceneOf({ subjects, snapshot, sites: indexed }: PlanningInput, guard: RepairGuard): Scene {
  const sites = indexed();
  const siteOf = (pod: PodIndex): SiteIndex => at(subjects.located, pod);
  const freeCapacityOf = (site: SiteIndex) => itemAt(sites.rooms, site);
  return { where: { sites, counts: sites.counts, siteOf, freeCapacityOf }, guard, now: snapshot.takenAt };
}

/** Pods in scope that stay, on nodes that repairs move pods from: those in scope that are Ready and stay. */
export function podsOnHosts({ subjects, holds, hosts, pods }: PlanningInput): readonly PodIndex[] {
  const isHost = new Set(hosts);
  const isHostAt = Uint8Array.from(subjects.nodes, (node) => (isHost.has(node) ? 1 : 0));
  return indicesWhere(pods.length, (pod: PodIndex) => {
    const site = at(subjects.located, pod);
    return site >= 0 && isHostAt[site] === 1 && holds.inScope[pod] === 1;
  });
}
