import { pageEndpoints } from '../../src/adapters/http/page-endpoints.ts';
import { readPageFiles } from '../../src/adapters/http/page-files.ts';
import { type HttpServer, listen } from '../../src/adapters/http/server.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { createPageFeed, type PageSource } from '../../src/control/page-feed.ts';
import { EXCLUDED_NAMESPACES } from '../../src/model/excluded-namespaces.ts';
import type { Harbour } from './harbour.ts';

/** The page that `npm run build` has written. */
export const PAGE: URL = new URL('../../dist/page/', import.meta.url);

/** A page of a harbour that can change while it is watched. */
export interface Stage {
  readonly url: string;
  readonly server: HttpServer;
  /** What the feed reported. */
  readonly troubles: readonly unknown[];
  /** The next look finds this; it comes at once. */
  become(harbour: Harbour): void;
  /** Snapshots fail with this message until told otherwise by undefined. */
  fail(message: string | undefined): void;
  close(): Promise<void>;
}

/** Serves the page of a harbour by plain HTTP on the loopback. */
export async function startStage(first: Harbour, port = 0): Promise<Stage> {
  let harbour = first;
  let failure: string | undefined;
  let changed = (): void => undefined;
  const source: PageSource = {
    title: first.role === 'Files' ? 'snapshot.yaml' : 'https://harbour.example:6443',
    role: () => harbour.role ?? 'Leader',
    excludedNamespaces: EXCLUDED_NAMESPACES,
    snapshot: async () => {
      if (failure !== undefined) {
        throw new Error(failure);
      }
      return harbour.snapshot;
    },
    plans: async () => ({ policies: [{ policy: harbour.policy, invalid: [] }], plans: [harbour.plan] }),
    watch: async (ring, signal) => {
      changed = ring;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const troubles: unknown[] = [];
  const report = (error: unknown): void => void troubles.push(error);
  const feed = createPageFeed(source, { clock: systemClock, report });
  const endpoints = pageEndpoints(await readPageFiles(PAGE), feed, () => undefined);
  const server = await listen({ host: '127.0.0.1', port, endpoints, report });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    server,
    troubles,
    become(next) {
      harbour = next;
      changed();
    },
    fail(message) {
      failure = message;
      changed();
    },
    close: () => server.close(),
  };
}
