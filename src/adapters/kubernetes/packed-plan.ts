import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { MoveStatus, RebalancePlan, RebalancePlanSpec } from '../../api/v1alpha1/rebalance-plan.ts';

/** What of a plan takes room. */
interface Content extends Pick<RebalancePlanSpec, 'moves' | 'rejections'> {
  readonly runs: MoveStatus[] | undefined;
}

/** Fast rather than small: plans repeat themselves so much that more effort gains little. */
const EFFORT = { level: 1 };

/**
 * The plan as it is kept in memory: hundreds of plans with a thousand moves each stay for their history, a MiB each. The moves and
 * rejections of one that has ended are kept packed, and unpacked whenever somebody reads them, which takes some ten milliseconds. So
 * `digest` is called before with all that this plan has: what every pass asks of it is best worked out there, `oncePer` plan.
 */
export function packPlan(plan: RebalancePlan, digest: (plan: RebalancePlan) => void): RebalancePlan {
  if (plan.status?.finishedAt === undefined) {
    return plan;
  }
  const { managedFields: _, ...metadata } = plan.metadata;
  const { moves, rejections, ...spec } = plan.spec;
  const { moves: runs, ...status } = plan.status;
  const content = packed({ moves, rejections, runs });
  const kept: RebalancePlan = {
    ...plan,
    metadata,
    spec: {
      ...spec,
      get moves() {
        return content.read().moves;
      },
      get rejections() {
        return content.read().rejections;
      },
    },
    status:
      runs === undefined
        ? status
        : {
            ...status,
            get moves() {
              return content.read().runs ?? [];
            },
          },
  };
  digest(kept);
  content.letGo();
  return kept;
}

/** Keeps the content itself until it is let go, and what is unpacked later for as long as the collector leaves it. */
function packed(content: Content): { read(): Content; letGo(): void } {
  const bytes = deflateRawSync(JSON.stringify(content), EFFORT);
  let whole: Content | undefined = content;
  let unpacked: WeakRef<Content> | undefined;
  return {
    read() {
      const known = whole ?? unpacked?.deref();
      if (known !== undefined) {
        return known;
      }
      const again = JSON.parse(inflateRawSync(bytes).toString()) as Content;
      unpacked = new WeakRef(again);
      return again;
    },
    letGo() {
      whole = undefined;
    },
  };
}
