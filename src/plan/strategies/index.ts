import type { StrategyName } from '../../api/v1alpha1/rebalance-policy.ts';
import type { StrategyOptions } from '../options.ts';
import { greedyLb } from './greedy-lb.ts';
import { refineLb } from './refine-lb.ts';
import type { Strategy } from './strategy.ts';

type OptionsOf<Name extends StrategyName> = Extract<StrategyOptions, { type: Name }>;

/** Every strategy that a policy may name. A new one is a file and a line here; without the line it does not compile. */
export const STRATEGIES = {
  GreedyLB: greedyLb,
  RefineLB: refineLb,
} satisfies { readonly [Name in StrategyName]: (options: OptionsOf<Name>) => Strategy };

/** The strategy that the options are for. */
export function strategyFor(options: StrategyOptions): Strategy {
  switch (options.type) {
    case 'GreedyLB':
      return STRATEGIES.GreedyLB(options);
    case 'RefineLB':
      return STRATEGIES.RefineLB(options);
    default:
      return options satisfies never;
  }
}
