import type { BalancingOptions } from '../options.ts';
import { greedyLb } from './greedy-lb.ts';
import { refineLb } from './refine-lb.ts';
import type { Strategy } from './strategy.ts';

type BalancingName = BalancingOptions['type'];
type OptionsOf<Name extends BalancingName> = Extract<BalancingOptions, { type: Name }>;

/**
 * Every strategy that balances and that a policy may name; QoSDriven has a conversation of its own (see qos/). A new one is a
 * file, its traits and a line here; without them it does not compile.
 */
export const STRATEGIES = {
  GreedyLB: greedyLb,
  RefineLB: refineLb,
} satisfies { readonly [Name in BalancingName]: (options: OptionsOf<Name>) => Strategy };

/** The strategy that the options are for. */
export function strategyFor(options: BalancingOptions): Strategy {
  switch (options.type) {
    case 'GreedyLB':
      return STRATEGIES.GreedyLB(options);
    case 'RefineLB':
      return STRATEGIES.RefineLB(options);
    default:
      return options satisfies never;
  }
}
