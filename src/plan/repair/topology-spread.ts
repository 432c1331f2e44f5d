import { oncePer } from '../../model/once-per.ts';
import { at, type DomainIndex, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { SpreadRepair } from '../options.ts';
import type { TopologyCounts } from '../topology/counts.ts';
import type { KeptSpread } from '../topology/needs.ts';
import { excessOf } from './excess.ts';
import { needsOf, type RepairRule, type RepairRun, type Scene, type Wish } from './rule.ts';

/** Pods that are looked at for one move: one of each kind on each node. */
const MOST_LOOKED_AT = 64;
/** What a constraint that refuses nodes weighs against those that rank them. */
const HARD = 1_000_000;

/**
 * Brings every constraint within its maxSkew on the domains that count, hard ones first. The excess of a constraint is the number
 * of moves that it takes at least; each move is the one that takes most of it away, over all constraints that count the pod.
 */
export function topologySpreadRule({ tolerance }: SpreadRepair): RepairRule {
  const isBroken = (counts: TopologyCounts, need: KeptSpread): boolean =>
    skewOf(counts, need) > need.maxSkew + tolerance;
  const brokenBy = ({ where }: Scene, pod: PodIndex): readonly KeptSpread[] => {
    const { counts, siteOf } = where;
    const { kept } = counts.topologyIndex.needsOf(pod);
    return kept.length === 0 || siteOf(pod) < 0
      ? NONE
      : kept.filter((need) => isCrowded(counts, need, siteOf(pod)) && isBroken(counts, need));
  };
  const rule: RepairRule = {
    name: 'TopologySpread',
    endsAnywhere: false,
    ofNodeAlone: false,
    movesUnready: false,
    concerns: (scene, pod) => needsOf(scene, pod).kept.some((need) => isBroken(scene.where.counts, need)),
    clauseOf: (scene, pod) => {
      const broken = brokenBy(scene, pod);
      const need = broken.find(({ soft }) => !soft) ?? broken[0];
      return need && describe(scene, pod, need);
    },
    repair: (run, suspects) => {
      const groups = groupsOf(suspects, (pod) => brokenBy(run.scene, pod));
      const ordered = groups.toSorted((left, right) => Number(left.need.soft) - Number(right.need.soft));
      for (const { need, pods } of ordered) {
        restore(run, rule, need, pods, isBroken);
      }
    },
  };
  return rule;
}

const NONE: readonly KeptSpread[] = [];

function keyOf({ tracker, maxSkew, minDomains, soft }: KeptSpread): string {
  return `${tracker} ${maxSkew} ${minDomains} ${soft}`;
}

/** A broken constraint with the pods that count for it and could leave their domain. */
interface Group {
  readonly need: KeptSpread;
  readonly pods: PodIndex[];
}

/** Kinds of pods have needs of their own for one constraint. */
function groupsOf(suspects: readonly PodIndex[], needsOf: (pod: PodIndex) => readonly KeptSpread[]): readonly Group[] {
  const groups = new Map<string, Group>();
  const groupOf = oncePer((need: KeptSpread): Group => {
    const group = groups.get(keyOf(need)) ?? { need, pods: [] };
    groups.set(keyOf(need), group);
    return group;
  });
  for (const pod of suspects) {
    for (const need of needsOf(pod)) {
      groupOf(need).pods.push(pod);
    }
  }
  return [...groups.values()];
}

function isShort(counts: TopologyCounts, { tracker, minDomains }: KeptSpread): boolean {
  return itemAt(counts.topologyIndex.trackers, tracker).eligible < minDomains;
}

function skewOf(counts: TopologyCounts, need: KeptSpread): number {
  return counts.most(need.tracker) - (isShort(counts, need) ? 0 : counts.least(need.tracker));
}

/** Whether a pod that leaves its domain for the emptiest helps at all. */
function isCrowded(counts: TopologyCounts, need: KeptSpread, site: number): boolean {
  const domain = need.self ? at(itemAt(counts.topologyIndex.trackers, need.tracker).counted, site) : -1;
  const least = isShort(counts, need) ? 0 : counts.least(need.tracker);
  return domain >= 0 && counts.inDomain(need.tracker, domain) >= least + 2;
}

function describe({ where: { counts, siteOf } }: Scene, pod: PodIndex, need: KeptSpread): string {
  const { domains, counted } = itemAt(counts.topologyIndex.trackers, need.tracker);
  const domain = at(counted, siteOf(pod));
  const [pods, least] = [counts.inDomain(need.tracker, domain), isShort(counts, need) ? 0 : counts.least(need.tracker)];
  return `${domains.key} ${domains.values[domain]} has ${pods} pods of its spread, the emptiest ${least}, and maxSkew is ${need.maxSkew}`;
}

/** Moves pods until the constraint holds, or no move helps. */
function restore(
  run: RepairRun,
  rule: RepairRule,
  need: KeptSpread,
  own: readonly PodIndex[],
  isBroken: (counts: TopologyCounts, need: KeptSpread) => boolean,
): void {
  const { counts, siteOf } = run.scene.where;
  const { counted } = itemAt(counts.topologyIndex.trackers, need.tracker);
  const domainOf = (pod: PodIndex): DomainIndex => at(counted, siteOf(pod));
  const failed = new Set<PodIndex>();
  while (excessIn(counts, need) > 0) {
    const crowded = own
      .filter((pod) => !failed.has(pod) && run.mayMove(pod) && isCrowded(counts, need, siteOf(pod)))
      .sort(
        (left, right) =>
          counts.inDomain(need.tracker, domainOf(right)) - counts.inDomain(need.tracker, domainOf(left)) ||
          run.compare(left, right),
      );
    const [pod, wish] = bestOf(run, likeOnes(run, crowded)) ?? [];
    if (pod === undefined || wish === undefined || !run.move(pod, rule, wish)) {
      if (pod === undefined) {
        break;
      }
      failed.add(pod);
    }
  }
  if (isBroken(counts, need)) {
    const wrong = own.filter((pod) => rule.clauseOf(run.scene, pod) !== undefined);
    for (const pod of wrong.slice(0, excessIn(counts, need))) {
      run.move(pod, rule, wishFor(run, pod));
    }
  }
}

/** The first of each kind on each node: the others would do no better. */
function likeOnes({ state: { cluster }, scene: { where } }: RepairRun, pods: readonly PodIndex[]): readonly PodIndex[] {
  const { ofPod } = cluster.sites.counts.topologyIndex.kinds;
  const seen = new Set<string>();
  return pods
    .filter((pod) => {
      const key = `${at(ofPod, pod)} ${where.siteOf(pod)}`;
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    })
    .slice(0, MOST_LOOKED_AT);
}

/** The pod whose best move takes most excess away; ties go to the first. */
function bestOf(run: RepairRun, pods: readonly PodIndex[]): readonly [PodIndex, Wish] | undefined {
  let best: { readonly pod: PodIndex; readonly wish: Wish; readonly rank: number } | undefined;
  for (const pod of pods) {
    const wish = wishFor(run, pod);
    if (best === undefined || (wish.bestRank ?? 0) < best.rank) {
      const found = run.targetOf(pod, wish);
      best =
        found !== undefined && (best === undefined || found.rank < best.rank) ? { pod, wish, rank: found.rank } : best;
    }
  }
  return best && [best.pod, best.wish];
}

/** Ranks nodes by how much excess a move there leaves, of hard constraints first. */
function wishFor({ state, scene: { where } }: RepairRun, pod: PodIndex): Wish {
  const { counts } = where;
  const home = where.siteOf(pod);
  const needs = counts.topologyIndex.needsOf(pod).kept.filter(({ self }) => self);
  const excesses = needs.map((need) => ({ need, before: excessIn(counts, need) }));
  const changes = excesses.map(({ need, before }) => changeOf(counts, need, home, before));
  const bestRank = excesses.reduce((sum, { need, before }) => sum - (before > 0 ? (need.soft ? 1 : HARD) : 0), 0);
  const rankOf = (node: NodeIndex): number => {
    const site = at(state.cluster.siteOf, node);
    let rank = 0;
    for (const [place, need] of needs.entries()) {
      rank += (need.soft ? 1 : HARD) * (changes[place]?.(site) ?? 0);
    }
    return rank < 0 ? rank : Number.POSITIVE_INFINITY;
  };
  return { rankOf, bestRank, lenientUpTo: -HARD / 2 };
}

/**
 * By how much the excess of a constraint, now `before`, changes when a pod goes from `home` to another node; worked out once per
 * domain count.
 */
function changeOf(counts: TopologyCounts, need: KeptSpread, home: number, before: number): (site: number) => number {
  const { counted } = itemAt(counts.topologyIndex.trackers, need.tracker);
  const source = at(counted, home);
  const known = new Map<number, number>();
  return (site) => {
    const target = at(counted, site);
    if (target === source) {
      return 0;
    }
    const pods = target < 0 ? -1 : counts.inDomain(need.tracker, target);
    const change = known.get(pods) ?? excessAfter(counts, need, source, target) - before;
    known.set(pods, change);
    return change;
  };
}

function excessIn(counts: TopologyCounts, need: KeptSpread): number {
  return excessAfter(counts, need, -1, -1);
}

function excessAfter(counts: TopologyCounts, need: KeptSpread, source: DomainIndex, target: DomainIndex): number {
  const { eligible } = itemAt(counts.topologyIndex.trackers, need.tracker);
  const byDomain = counts.byDomain(need.tracker);
  const sizes = new Map<number, number>([[0, Math.max(0, eligible - byDomain.size)]]);
  const count = (pods: number, by: number): void => {
    sizes.set(pods, (sizes.get(pods) ?? 0) + by);
  };
  for (const pods of byDomain.values()) {
    count(pods, 1);
  }
  if (source >= 0) {
    const pods = counts.inDomain(need.tracker, source);
    count(pods, -1);
    count(pods - 1, 1);
  }
  if (target >= 0) {
    const pods = counts.inDomain(need.tracker, target);
    count(pods, -1);
    count(pods + 1, 1);
  }
  return excessOf(sizes, need.maxSkew, isShort(counts, need));
}
