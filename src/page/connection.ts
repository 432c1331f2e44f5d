import type { PageDetail } from '../report/page/detail.ts';
import { applyMergePatch } from '../report/page/merge-patch.ts';
import type { PageState } from '../report/page/state.ts';

/** How the page hears of the cluster. */
export type Link =
  | { readonly kind: 'Connecting' }
  | { readonly kind: 'Live' }
  /** Tries again; `since` is when it was last live, undefined when it never was. */
  | { readonly kind: 'Reconnecting'; readonly since: Date | undefined; readonly why: string }
  /** The server wants to know who asks, or does not let this user. */
  | { readonly kind: 'SignIn'; readonly why: string | undefined };

interface ConnectionListener {
  state(state: PageState): void;
  link(link: Link): void;
}

/** A connection to the server that the page came from. */
export interface Connection {
  /** Sends this bearer token from now on. It is kept in memory only, and gone with the page. */
  signIn(token: string): void;
  /** What the planner says to `query`, such as `node=node-1&policy=default`. Rejects with a message for people. */
  ask(query: URLSearchParams): Promise<PageDetail>;
}

/** The server says something every five seconds. */
const SILENCE = 15_000;
const RETRY = { first: 500, most: 10_000 };

/** A refusal that trying again does not change. */
class RefusedError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Opens the stream, and opens it again whenever it breaks. */
export function openConnection(listener: ConnectionListener): Connection {
  let token: string | undefined;
  let wake: (() => void) | undefined;
  let liveAt: Date | undefined;

  async function get(path: string, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(path, { headers, cache: 'no-store', ...(signal === undefined ? {} : { signal }) });
    if (!response.ok) {
      throw new RefusedError(response.status, (await response.text()).trim());
    }
    return response;
  }

  async function stream(): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(new Error('the server has fallen silent')), SILENCE);
    try {
      const response = await get('page/stream', silence.signal);
      let state: PageState | undefined;
      let rest = '';
      const decoder = new TextDecoder();
      const reader = response.body?.getReader();
      for (;;) {
        const chunk = await reader?.read();
        if (chunk?.value === undefined) {
          return;
        }
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(new Error('the server has fallen silent')), SILENCE);
        const split = splitEvents(rest + decoder.decode(chunk.value, { stream: true }));
        rest = split.rest;
        for (const { event, data } of split.events) {
          const next = reduce(state, event, data);
          if (next !== undefined && next !== state) {
            listener.state(next);
          }
          state = next;
          liveAt = new Date();
          listener.link({ kind: 'Live' });
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async function keep(): Promise<never> {
    let wait = RETRY.first;
    for (;;) {
      const began = Date.now();
      try {
        await stream();
        wait = RETRY.first;
      } catch (error) {
        wait = Date.now() - began > RETRY.most ? RETRY.first : Math.min(RETRY.most, wait * 2);
        if (error instanceof RefusedError && (error.code === 401 || error.code === 403)) {
          listener.link({ kind: 'SignIn', why: token === undefined ? undefined : error.message });
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          listener.link({ kind: 'Connecting' });
          continue;
        }
        listener.link({ kind: 'Reconnecting', since: liveAt, why: reasonOf(error) });
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  listener.link({ kind: 'Connecting' });
  void keep();
  return {
    signIn(given) {
      token = given.trim();
      wake?.();
    },
    ask: async (query) => (await (await get(`page/explain?${query}`)).json()) as PageDetail,
  };
}

function reduce(state: PageState | undefined, event: string, data: string): PageState | undefined {
  switch (event) {
    case 'state':
      return JSON.parse(data) as PageState;
    case 'patch':
      return state === undefined ? undefined : applyMergePatch(state, JSON.parse(data) as object);
    default:
      return state;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof RefusedError) {
    return error.message;
  }
  return error instanceof TypeError ? 'the server cannot be reached' : String((error as Error).message);
}

/** One event of a stream. */
interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** The events that `text` completes, and what is left of it. Events end with an empty line, as the server writes them. */
function splitEvents(text: string): { readonly events: readonly StreamEvent[]; readonly rest: string } {
  const frames = text.split('\n\n');
  const rest = frames.pop() ?? '';
  return { events: frames.map(parseEvent), rest };
}

function parseEvent(frame: string): StreamEvent {
  const fields = new Map(
    frame.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  return { event: fields.get('event') ?? '', data: fields.get('data') ?? '' };
}
