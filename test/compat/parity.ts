import { runCampaign } from '../parity/campaign.ts';
import { describeJudged } from '../parity/report.ts';
import { failuresOf, tallyOf } from '../parity/tally.ts';
import { openWorld } from '../parity/world.ts';
import type { CheckGroup } from './check.ts';
import { yesUnless } from './verdict.ts';

const PARITY = 'parity with kube-scheduler';

/** Our filters and the scheduler of the version, asked about the same random pods. */
export const PARITY_GROUP: CheckGroup = {
  name: 'parity',
  checks: [PARITY],
  async run({ kubernetes, verdicts, log, decide }) {
    const world = await openWorld({ kubernetes, log });
    try {
      const tally = tallyOf(await runCampaign(world, { verdicts, seed: 1, log }));
      for (const judged of [...tally.disagreements, ...tally.otherReasons]) {
        log(describeJudged(judged));
      }
      decide(PARITY, yesUnless(failuresOf(tally), `${tally.verdicts} verdicts`));
    } finally {
      await world.close();
    }
  },
};
