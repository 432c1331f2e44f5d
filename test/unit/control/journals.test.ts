import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { createJournals } from '../../../src/control/journals.ts';
import { seconds } from '../../../src/model/units.ts';
import { ConflictError } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';
import { fakePlans } from '../../support/fake-stores.ts';
import { testClock } from '../../support/test-clock.ts';

const { signal } = new AbortController();
const POD = aPod('web-1', { nodeName: 'a' });

/** A stored plan of two moves, whose notes wait a second for each. */
function journalled() {
  const clock = testClock();
  const plans = fakePlans();
  const previous: (string | undefined)[] = [];
  const store = {
    ...plans.store,
    writeStatus: (...[plan, status, ...rest]: Parameters<typeof plans.store.writeStatus>) => {
      previous.push(plan.status?.message);
      return plans.store.writeStatus(plan, status, ...rest);
    },
  };
  const journals = createJournals(store, clock, seconds(1));
  const moves = [aMove(POD, 'b'), aMove({ ...POD, uid: 'uid-web-2' }, 'b')];
  const plan = plans.put(aPlan(aPolicy('even'), moves, { message: 'stored' }));
  const { name } = plan.metadata;
  const stored = () => plans.of(name).status?.message;
  const listed = async () => (await journals.list(signal)).map(({ status }) => status?.message);
  const note = (of: RebalancePlan, message: string) => journals.noteStatus(of, { ...of.status, message }, signal);
  return { clock, plans, journals, plan, name, previous, stored, listed, note };
}

describe('what is noted of a plan', () => {
  it('is read back, and is not stored until it has waited as long as its plan is large', async () => {
    const { clock, journals, plan, stored, listed, note } = journalled();
    const first = await note(plan, 'first');
    await clock.advance(1.9);
    const second = await journals.writeDue(await note(first, 'second'), signal);
    expect([stored(), await listed()]).toEqual(['stored', ['second']]);
    await clock.advance(0.1);
    const written = await journals.writeDue(second, signal);
    expect([stored(), written.status?.message, await listed()]).toEqual(['second', 'second', ['second']]);
  });

  it('is stored once', async () => {
    const { clock, journals, plan, note, previous } = journalled();
    const noted = await note(plan, 'first');
    await clock.advance(2);
    const written = await journals.writeDue(noted, signal);
    await clock.advance(10);
    await journals.writeDue(written, signal);
    await journals.writeAll(signal);
    expect(previous).toEqual(['stored']);
  });

  it('goes with the next write, which changes what is stored and not what is noted', async () => {
    const { journals, plan, stored, listed, note, previous } = journalled();
    const noted = await note(plan, 'first');
    await journals.writeStatus(noted, { ...noted.status, message: 'intents' }, signal);
    expect([stored(), await listed(), previous]).toEqual(['intents', ['intents'], ['stored']]);
  });

  it('stays when the write with it fails', async () => {
    const { plans, journals, plan, listed, note } = journalled();
    const noted = await note(plan, 'first');
    const { writeStatus } = plans.store;
    plans.store.writeStatus = async () => {
      throw new Error('503');
    };
    await expect(journals.writeStatus(noted, { message: 'intents' }, signal)).rejects.toThrow('503');
    plans.store.writeStatus = writeStatus;
    expect(await listed()).toEqual(['first']);
  });

  it('is void when somebody else has written the journal: the next look tells anew', async () => {
    const { plans, journals, plan, listed, note } = journalled();
    const noted = await note(plan, 'first');
    plans.put({ ...plan, status: { ...plan.status, message: 'by another leader' } });
    await expect(journals.writeStatus(noted, { message: 'intents' }, signal)).rejects.toThrow(ConflictError);
    expect(await listed()).toEqual(['by another leader']);
    await journals.writeAll(signal);
    expect(await listed()).toEqual(['by another leader']);
  });

  it('stays when somebody else has only annotated the plan', async () => {
    const { clock, plans, journals, plan, name, listed, note } = journalled();
    await note(plan, 'first');
    plans.put({ ...plan, metadata: { ...plan.metadata, annotations: { team: 'shop' } } });
    expect(await listed()).toEqual(['first']);
    await clock.advance(2);
    const [noted = plan] = await journals.list(signal);
    await journals.writeDue(noted, signal);
    expect(plans.of(name)).toMatchObject({ metadata: { annotations: { team: 'shop' } }, status: { message: 'first' } });
  });

  it('is stored however lately it was noted, when nothing follows', async () => {
    const { journals, plan, stored, note } = journalled();
    await note(plan, 'first');
    await journals.writeAll(signal);
    expect(stored()).toBe('first');
  });

  it('is forgotten with its plan', async () => {
    const { plans, journals, plan, name, listed, note } = journalled();
    await note(plan, 'first');
    await plans.store.remove(name, signal);
    expect(await listed()).toEqual([]);
    await journals.writeAll(signal);
    await note(plan, 'first');
    await journals.remove(name, signal);
    await journals.writeAll(signal);
    expect(await listed()).toEqual([]);
  });
});
