import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { createMetrics } from '../../../src/report/metrics/metrics.ts';

const START = 1_000_000;
const waiting = (uid: string, className: string, age: number) => ({
  uid,
  className,
  createdAt: epochSeconds(START - age),
});

describe('the metrics of the gate queue', () => {
  it('count who waits by class, and how long whoever waits no more did', async () => {
    const { registry, telemetry } = createMetrics('1.2.3');
    telemetry.waiting(
      [waiting('a', 'gold', 20), waiting('b', 'batch', 5), waiting('c', 'batch', 0)],
      epochSeconds(START),
    );
    expect(await registry.metrics()).toContain('evenkeel_gate_waiting_pods{class="batch"} 2');
    telemetry.waiting([waiting('c', 'batch', 0)], epochSeconds(START + 10));
    const text = await registry.metrics();
    expect(text).toContain('evenkeel_gate_waiting_pods{class="batch"} 1');
    expect(text).not.toContain('evenkeel_gate_waiting_pods{class="gold"}');
    expect(text).toContain('evenkeel_gate_wait_seconds_sum{class="gold"} 30');
    expect(text).toContain('evenkeel_gate_wait_seconds_sum{class="batch"} 15');
    expect(text).toContain('evenkeel_gate_wait_seconds_count{class="batch"} 1');
  });
});
