import { describe, expect, it } from 'vitest';
import type { Term } from '../../../../src/control/shards/leadership.ts';
import { REST } from '../../../../src/control/shards/names.ts';
import { whileLed } from '../../../../src/control/shards/while-led.ts';
import { seconds } from '../../../../src/model/units.ts';
import { FakeLeadership } from '../../../support/fake-leadership.ts';
import { type TestClock, testClock } from '../../../support/test-clock.ts';

interface Bench {
  readonly clock: TestClock;
  readonly leadership: FakeLeadership;
  /** `begin 3`, `end 3`. */
  readonly log: string[];
  readonly stop: AbortController;
  outcome(): unknown;
}

/** Work that goes on for `span` seconds after its end was asked for, and then rejects with `failure` if there is one. */
function bench(span = 0, failure?: Error): Bench {
  const clock = testClock();
  const leadership = new FakeLeadership();
  const log: string[] = [];
  const stop = new AbortController();
  let outcome: unknown;
  const work = async ({ epoch, signal }: Term): Promise<void> => {
    log.push(`begin ${epoch}`);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await clock.sleep(seconds(span), new AbortController().signal);
    log.push(`end ${epoch}`);
    if (failure !== undefined) {
      throw failure;
    }
  };
  whileLed(REST, leadership, work, clock, stop.signal).then(
    () => {
      outcome = 'ended';
    },
    (error: unknown) => {
      outcome = error;
    },
  );
  return { clock, leadership, log, stop, outcome: () => outcome };
}

describe('work while a shard is led', () => {
  it('begins as soon as the shard is led, with its epoch, and again in each term', async () => {
    const { clock, leadership, log } = bench();
    await clock.advance(5);
    expect(log).toEqual([]);
    leadership.give(REST, 3);
    await clock.advance(0);
    expect(log).toEqual(['begin 3']);
    leadership.lose(REST);
    await clock.advance(0);
    expect(log).toEqual(['begin 3', 'end 3']);
    leadership.give(REST, 5);
    await clock.advance(0);
    expect(log).toEqual(['begin 3', 'end 3', 'begin 5']);
  });

  it('has ended before the shard is handed over, and is not begun again meanwhile', async () => {
    const { clock, leadership, log } = bench(3);
    leadership.give(REST, 1);
    await clock.advance(0);
    let isOver = false;
    void leadership.handOver(REST).then(() => {
      isOver = true;
    });
    await clock.advance(2.9);
    expect({ isOver, log }).toEqual({ isOver: false, log: ['begin 1'] });
    await clock.advance(0.2);
    expect({ isOver, log }).toEqual({ isOver: true, log: ['begin 1', 'end 1'] });
    await clock.advance(120);
    expect(log).toHaveLength(2);
  });

  it('goes on when another shard is handed over', async () => {
    const { clock, leadership, log } = bench();
    leadership.give(REST, 1);
    await clock.advance(0);
    await leadership.handOver('uid-1');
    await clock.advance(60);
    expect(log).toEqual(['begin 1']);
  });

  it('begins anew where the hand-over has failed and the shard is led on', async () => {
    const { clock, leadership, log } = bench();
    leadership.give(REST, 1);
    await clock.advance(0);
    const over = leadership.handOver(REST);
    await clock.advance(0);
    await over;
    leadership.give(REST, 1);
    await clock.advance(0);
    expect(log).toEqual(['begin 1', 'end 1', 'begin 1']);
  });

  it('ends with the process, and is waited for', async () => {
    const { clock, leadership, log, stop, outcome } = bench(3);
    leadership.give(REST, 1);
    await clock.advance(0);
    stop.abort();
    await clock.advance(2.9);
    expect(outcome()).toBeUndefined();
    await clock.advance(0.2);
    expect({ outcome: outcome(), log }).toEqual({ outcome: 'ended', log: ['begin 1', 'end 1'] });
  });

  it('that never began is not waited for at the end, nor when the shard is handed over', async () => {
    const { clock, leadership, stop, outcome } = bench();
    await clock.advance(1);
    await leadership.handOver(REST);
    stop.abort();
    await clock.advance(0);
    expect(outcome()).toBe('ended');
  });

  it('that fails is an end with its error; the hand-over is not held up by it', async () => {
    const { clock, leadership, outcome } = bench(1, new Error('no rights'));
    leadership.give(REST, 1);
    await clock.advance(0);
    let isOver = false;
    void leadership.handOver(REST).then(() => {
      isOver = true;
    });
    await clock.advance(1.1);
    expect(isOver).toBe(true);
    expect(String(outcome())).toContain('no rights');
  });
});
