import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Telemetry } from '../../ports.ts';

/** Registers the metrics of moves. */
export function moveMetrics(registers: Registry[]): Pick<Telemetry, 'moveEnded'> {
  const moves = new Counter({
    name: 'evenkeel_moves_total',
    help: 'Moves that came to an end, by what they were for: Balance, Preemption or Admission.',
    labelNames: ['strategy', 'result', 'reason'],
    registers,
  });
  const durations = new Histogram({
    name: 'evenkeel_move_duration_seconds',
    help: 'Time from the intent to the Ready replacement.',
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    registers,
  });
  const lost = new Histogram({
    name: 'evenkeel_move_unavailability_seconds',
    help: 'Service that a move cost: from the eviction until a replacement was Ready, or was given up. maxOverhead limits the sum.',
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
    registers,
  });
  return {
    moveEnded({ strategy, result, reason, duration, unavailable }) {
      moves.inc({ strategy, result, reason });
      if (duration !== undefined) {
        durations.observe(duration);
      }
      if (unavailable !== undefined) {
        lost.observe(unavailable);
      }
    },
  };
}

/** Registers the metrics of steering and of the gate. */
export function steeringMetrics(registers: Registry[]): Pick<Telemetry, 'steered' | 'gate' | 'hitRatios'> {
  const steering = new Counter({
    name: 'evenkeel_steering_total',
    help: 'Replacements by steering mode and whether they landed on the planned node.',
    labelNames: ['mode', 'result'],
    registers,
  });
  const gates = new Counter({
    name: 'evenkeel_gate_actions_total',
    help: 'Scheduling gates opened: to the planned node, to any when that one can take the pod no more, or for a pod that no move waits for; and pods released from a node without room.',
    labelNames: ['action'],
    registers,
  });
  const ratio = new Gauge({
    name: 'evenkeel_steering_hit_ratio',
    help: 'Share of the replacements of all plans on the cluster that landed on the planned node, by steering mode.',
    labelNames: ['mode'],
    registers,
  });
  return {
    steered: ({ mode, landed }) => steering.inc({ mode, result: landed ? 'hit' : 'miss' }),
    gate: (action) => gates.inc({ action }),
    hitRatios(ratios) {
      ratio.reset();
      for (const [mode, value] of ratios) {
        ratio.set({ mode }, value);
      }
    },
  };
}
