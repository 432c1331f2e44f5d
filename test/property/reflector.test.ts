import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answer, unreachable } from '../support/fake-watch-server.ts';
import { createRandom } from '../support/random.ts';
import { type ReflectedServer, reflect } from '../support/reflected.ts';

/** What happens to a server, its connections or the time, on one of six names. */
type Step = (made: ReflectedServer) => void | Promise<void>;

const NAMES = ['a', 'b', 'c', 'd', 'e', '__proto__'];
const name = fc.constantFrom(...NAMES);
const put = name.map((it): [string, Step] => [`put ${it}`, ({ server }) => server.put(it)]);
const remove = name.map((it): [string, Step] => [`remove ${it}`, ({ server }) => server.remove(it)]);
const recreate = name.map((it): [string, Step] => [
  `recreate ${it}`,
  ({ server }) => {
    server.remove(it);
    server.put(it);
  },
]);
const wait = fc
  .constantFrom(0, 0.1, 0.6, 5, 70, 200, 700)
  .map((span): [string, Step] => [`wait ${span}`, ({ clock }) => clock.advance(span)]);

/** What servers and networks do, and what a reflector must get over by itself, at once. */
const faults: Readonly<Record<string, Step>> = {
  reset: ({ server }) => server.reset(),
  truncate: ({ server }) => server.truncate(),
  end: ({ server }) => server.end(),
  stall: ({ server }) => server.stall(),
  'in-stream 410': ({ server }) => server.fail(410),
  'in-stream 500': ({ server }) => server.fail(500),
  'in-stream 429': ({ server }) => server.fail(429),
  garbage: ({ server }) => server.say('<html>'),
  'truncated JSON': ({ server }) => server.say('{"type":"ADDED","object":{"meta'),
  compact: ({ server }) => server.compact(),
  'repeat 1': ({ server }) => server.repeat(1),
  'repeat 9': ({ server }) => server.repeat(9),
  'replay 1': ({ server }) => server.replay(1),
  'replay 2': ({ server }) => server.replay(2),
  'replay 5': ({ server }) => server.replay(5),
  'refuse 429': ({ server }) => server.refuse(answer(429, 3)),
  'refuse 503': ({ server }) => server.refuse(answer(503), answer(500)),
  'refuse 410': ({ server }) => server.refuse(answer(410), answer(410)),
  'refuse 403': ({ server }) => server.refuse(answer(403)),
  'no connection': ({ server }) => server.refuse(unreachable(), unreachable(), unreachable()),
  'a handler joins': (made) => made.join(),
  'one page': ({ server }) => {
    server.pageSize = 1;
  },
};

/** What no protocol tells: only a comparison finds it. */
const lies: Readonly<Record<string, Step>> = {
  'drop the next event': ({ server }) => server.dropNext(),
  'send the next event late': ({ server }) => server.delayNext(),
};

function historyOf(...steps: readonly Readonly<Record<string, Step>>[]) {
  const fault = fc.constantFrom(...steps.flatMap((each) => Object.entries(each)));
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: put },
      { weight: 2, arbitrary: remove },
      { weight: 2, arbitrary: recreate },
      { weight: 3, arbitrary: wait },
      { weight: 4, arbitrary: fault },
    ),
    { maxLength: 40 },
  );
}

/** Plays a history, then leaves the server alone for `rest` seconds. */
async function play(seed: number, history: readonly (readonly [string, Step])[], rest: number) {
  const made = reflect(['a', 'b'], createRandom(seed).next);
  try {
    for (const [, step] of history) {
      await step(made);
    }
    await made.clock.advance(rest);
    return {
      held: made.held(),
      late: made.heldByLate(),
      stored: made.stored(),
      age: made.reflector.age,
      drifts: made.drifts,
    };
  } finally {
    await made.stop();
  }
}

/** Silence is noticed after 90 s, and back-off ends after 30 s. */
const RECOVERY = 240;
/** Ten minutes after the hour at the latest, the last watch before an audit ends; one that failed is tried again after ten more. */
const AUDITED = 3600 + 2 * 700;

const seed = fc.nat();
const shown = (history: readonly (readonly [string, Step])[]) => history.map(([what]) => what).join(', ');

describe('after the faults have ended', () => {
  it('the cache is what a list would be, by UID and version, whatever happened', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(seed, historyOf(faults), async (random, history) => {
        const { held, late, stored, age, drifts } = await play(random, history, RECOVERY);
        expect(held, shown(history)).toEqual(stored);
        expect(late, shown(history)).toEqual(late.map(() => stored));
        expect(age, shown(history)).toBeLessThan(5);
        expect(drifts, shown(history)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('an audit has found what the watch did not tell', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(seed, historyOf(faults, lies), async (random, history) => {
        const { held, late, stored } = await play(random, [...history, ['heal', heal]], AUDITED);
        expect([held, ...late], shown(history)).toEqual([held, ...late].map(() => stored));
      }),
      { numRuns: 1000 },
    );
  });
});

/** The lies end too: an event that was held back comes with the next one, and none is lost after that. */
const heal: Step = ({ server }) => {
  server.put('healing');
  server.put('healing');
  server.put('healing');
};
