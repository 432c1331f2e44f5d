import type { ControlPlane } from '../control-plane/start.ts';
import type { Random } from '../support/random.ts';
import { startKubelet, stopKubelet } from './disturb.ts';

/** Changes to a cluster as they go on all day, one at a time, each undone or outdone by later ones. */
export interface Churn {
  /** Makes the next change. Resolves to what it was. */
  next(): Promise<string>;
  /** Brings back the nodes that are cordoned or NotReady. */
  heal(): Promise<void>;
}

/** Deployments of test/scenarios/soak.yaml, and how many pods they have there. */
const APPS = 200;
const REPLICAS = 20;
/** Millicores that a pod uses at most. */
const MOST_USED = 400;
/** Nodes of the scenario. */
const NODES = 200;

/**
 * Changes of the load mostly, so that there is always something to balance; Deployments scaled and rolled out, pods deleted, a
 * node cordoned, another one NotReady. Each is one or two requests of kubectl, since its processor time is taken from the
 * two cores on which everything runs.
 */
export function createChurn(cp: ControlPlane, random: Random): Churn {
  let cordoned: string | undefined;
  let notReady: string | undefined;
  const app = () => numbered('app', random.below(APPS) + 1);
  const node = () => numbered('node', random.below(NODES) + 1);

  const usage = async (): Promise<string> => {
    const name = app();
    const cpu = `${10 + random.below(MOST_USED)}m`;
    await cp.kubectl([
      'annotate',
      'pod',
      '-n',
      'shop',
      '-l',
      `app=${name}`,
      '--overwrite',
      `kwok.x-k8s.io/usage-cpu=${cpu}`,
    ]);
    return `${name} uses ${cpu}`;
  };
  const scale = async (): Promise<string> => {
    const name = app();
    const replicas = REPLICAS - 2 + random.below(5);
    await cp.kubectl(['scale', '-n', 'shop', `deployment/${name}`, `--replicas=${replicas}`]);
    return `${name} has ${replicas} pods`;
  };
  const remove = async (): Promise<string> => {
    const name = app();
    const pods = await cp.kubectl(['get', 'pods', '-n', 'shop', '-l', `app=${name}`, '-o', 'name']);
    const [first = ''] = pods.split('\n');
    await cp.kubectl(['delete', '-n', 'shop', '--ignore-not-found', '--wait=false', first]);
    return `${first} deleted`;
  };
  const rollOut = async (): Promise<string> => {
    const name = app();
    await cp.kubectl(['rollout', 'restart', '-n', 'shop', `deployment/${name}`]);
    return `${name} rolls out`;
  };
  const cordon = async (): Promise<string> => {
    if (cordoned !== undefined) {
      const back = cordoned;
      cordoned = undefined;
      await cp.kubectl(['uncordon', back]);
      return `${back} uncordoned`;
    }
    cordoned = node();
    await cp.kubectl(['cordon', cordoned]);
    return `${cordoned} cordoned`;
  };
  const fail = async (): Promise<string> => {
    if (notReady !== undefined) {
      const back = notReady;
      notReady = undefined;
      await startKubelet(cp, back);
      return `${back} is Ready again`;
    }
    notReady = node();
    await stopKubelet(cp, notReady);
    return `${notReady} is not Ready`;
  };

  const changes = [usage, usage, usage, usage, usage, scale, scale, remove, remove, rollOut, cordon, fail];
  return {
    next: () => (changes[random.below(changes.length)] ?? usage)(),
    async heal() {
      if (cordoned !== undefined) {
        await cordon();
      }
      if (notReady !== undefined) {
        await fail();
      }
    },
  };
}

/** The name that the scenario gives to the one of this number. */
function numbered(prefix: string, number: number): string {
  return `${prefix}-${String(number).padStart(3, '0')}`;
}
