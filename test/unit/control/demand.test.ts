import { describe, expect, it } from 'vitest';
import { createDemand } from '../../../src/control/demand.ts';

describe('the demand', () => {
  it('is news when somebody joins or leaves the queue, in whatever order it is told', () => {
    const demand = createDemand(() => 0);
    const versions = [[], ['a'], ['a', 'b'], ['b', 'a'], ['b'], []].map((queue) => {
      demand.tell(queue);
      return demand.version();
    });
    expect(versions).toEqual([0, 1, 2, 2, 3, 4]);
  });

  it('is news when room may have been freed, unless nobody waits for it', () => {
    let turnover = 0;
    const demand = createDemand(() => turnover);
    demand.tell(['a']);
    turnover = 1;
    demand.tell(['a']);
    expect(demand.version()).toBe(2);
    demand.tell([]);
    turnover = 2;
    demand.tell([]);
    expect(demand.version()).toBe(3);
  });

  it('calls who listens', () => {
    const demand = createDemand(() => 0);
    let heard = 0;
    demand.onNews(() => {
      heard += 1;
    });
    demand.tell(['a']);
    demand.tell(['a']);
    expect(heard).toBe(1);
  });
});
