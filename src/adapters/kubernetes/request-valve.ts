import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import type { RequestLimits } from './client.ts';
import type { BackOff } from './retry.ts';
import { createTokenBucket } from './token-bucket.ts';

/** What every call passes on its way to the server (execution.md, failure model: token buckets, circuit breaker). */
export interface RequestValve {
  /**
   * Runs a call to an API group when its bucket and the circuit of the group allow. Rejects with what the call does, with an
   * ApiError that was not sent, or with the signal's reason.
   */
  pass<Value>(group: string, isChange: boolean, signal: AbortSignal, call: () => Promise<Value>): Promise<Value>;
}

/**
 * One bucket for reads and one for changes, so that no list keeps an intent waiting; one circuit for each API group, since
 * some are served by others than the API server (metrics.k8s.io) and fail without it.
 */
export function createRequestValve({ reads, changes }: RequestLimits, backOff: BackOff): RequestValve {
  const buckets = {
    reads: createTokenBucket(reads, backOff.clock),
    changes: createTokenBucket(changes, backOff.clock),
  };
  const circuits = new Map<string, CircuitBreaker>();
  const circuitOf = (group: string): CircuitBreaker => {
    const known = circuits.get(group) ?? createCircuitBreaker(`API group ${JSON.stringify(group)}`, backOff);
    circuits.set(group, known);
    return known;
  };
  return {
    async pass(group, isChange, signal, call) {
      await (isChange ? buckets.changes : buckets.reads).take(signal);
      return await circuitOf(group).guard(call);
    },
  };
}
