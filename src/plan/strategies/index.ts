import type { BalancingOptions } from '../options.ts';
import { greedyLb } from './greedy-lb.ts';
import { refineLb } from './refine-lb.ts';
import type { Strategy } from './strategy.ts';

/**
 * The strategy that the options are for, of those that balance; QoSDriven and Pack have a conversation of their own (see qos/ and
 * pack/). A new one is a file, its traits and a case here; without them it does not compile.
 */
export function strategyFor(options: BalancingOptions): Strategy {
  switch (options.type) {
    case 'GreedyLB':
      return greedyLb(options);
    case 'RefineLB':
      return refineLb(options);
    default:
      return options satisfies never;
  }
}
