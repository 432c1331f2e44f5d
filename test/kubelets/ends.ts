import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseInstant } from '../../src/model/instant.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { watchObjects } from '../support/object-watch.ts';
import { NAMESPACE } from './workloads.ts';

/** The end of a container, as its kubelet reported it. */
export interface ReportedEnd {
  readonly pod: string;
  /** Seconds from SIGKILL to the first status that shows it. */
  readonly after: number;
  /** Seconds from SIGKILL to the end, or the start of the next container, that the status names: it has whole seconds. */
  readonly named: number;
}

interface PodStatus {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: { readonly finishedAt?: string } };
      readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } };
    }[];
  };
}

/**
 * Kills the process of one container after the other, each of another pod, and waits for its kubelet to report the end. `logs` tells
 * the containers of the campaign from all other processes.
 */
export async function measureEnds(cp: ControlPlane, logs: string): Promise<readonly ReportedEnd[]> {
  const ends = new Map<string, { readonly at: number; readonly finishedAt: number }>();
  const watch = await watchObjects<PodStatus>(cp, `/api/v1/namespaces/${NAMESPACE}/pods`, ({ object }) => {
    const [container] = object.status?.containerStatuses ?? [];
    const finished = container?.state?.terminated?.finishedAt ?? container?.lastState?.terminated?.finishedAt;
    const { name } = object.metadata;
    if (finished !== undefined && !ends.has(name)) {
      ends.set(name, { at: Date.now(), finishedAt: 1000 * parseInstant(finished) });
    }
  });
  await watch.begun;
  const measured: ReportedEnd[] = [];
  for (const { pid, pod } of processesOf(logs).filter((each) => !ends.has(each.pod))) {
    const killed = Date.now();
    process.kill(pid, 'SIGKILL');
    await waitUntil('a report', async () => (ends.has(pod) ? undefined : `nothing is said of ${pod}`), {
      timeoutMilliseconds: 60_000,
    });
    const { at, finishedAt } = ends.get(pod) ?? { at: Number.NaN, finishedAt: Number.NaN };
    measured.push({ pod, after: (at - killed) / 1000, named: (finishedAt - killed) / 1000 });
    // Kills at other times within the period in which a kubelet looks at its containers.
    await sleep(1000 * Math.random());
  }
  await watch.stop();
  return measured;
}

function processesOf(logs: string): readonly { readonly pid: number; readonly pod: string }[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .flatMap((pid) => {
      const variables = environmentOf(pid);
      const pod = variables.find((each) => each.startsWith('HOSTNAME='))?.slice('HOSTNAME='.length);
      return pod !== undefined && variables.includes(`LOGS=${logs}`) ? [{ pid, pod }] : [];
    });
}

/** Nothing of a process that has ended meanwhile. */
function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
