import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Seconds, seconds } from '../../model/units.ts';
import type { Answer } from './server.ts';

/** Somebody whom the API server knows. */
export interface User {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Asks the API server who somebody is and what they may do. Both reject with ApiError when it cannot be asked. */
export interface AccessReviews {
  /** Whose token this is (TokenReview); undefined when nobody's. */
  authenticate(token: string, signal: AbortSignal): Promise<User | undefined>;
  /** Whether the user may `get` this path that is no resource (SubjectAccessReview). */
  mayGet(user: User, path: string, signal: AbortSignal): Promise<boolean>;
}

interface GuardOptions {
  readonly reviews: AccessReviews;
  /** The path that it guards. */
  readonly path: string;
  /** The ClusterRole in deploy/ that lets people get it. */
  readonly role: string;
  /** Seconds on a clock that never goes back. */
  readonly monotonic: () => Seconds;
  /** Hears why the API server could not be asked. */
  readonly report: (error: unknown) => void;
}

/** Lets a request pass (undefined), or says how to refuse it. Never rejects. */
export type Guard = (request: IncomingMessage, signal: AbortSignal) => Promise<Answer | undefined>;

/** How long a verdict counts, as in Kubernetes' own components (DelegatingAuthenticationOptions.CacheTTL). */
export const VERDICT_LIFETIME: Seconds = seconds(10);
/** Verdicts that are kept; then the oldest goes. */
const MAX_VERDICTS = 256;
/** Reviews under way at a time: whoever makes up tokens must not reach the API server through us at any rate. */
const MAX_REVIEWS = 8;

type Verdict = 'Allowed' | 'Unauthenticated' | 'Forbidden';

interface Remembered {
  readonly verdict: Promise<Verdict>;
  readonly until: Seconds;
}

/**
 * A guard that passes whoever bears a token of a user who may `get` the path, by the API server's word, and nobody else:
 * 401 without a valid token, 403 without the right, 503 when the API server cannot be asked. Tokens are kept as hashes.
 */
export function createAccessGuard({ reviews, path, role, monotonic, report }: GuardOptions): Guard {
  const remembered = new Map<string, Remembered>();
  let underWay = 0;

  async function review(token: string, signal: AbortSignal): Promise<Verdict> {
    underWay += 1;
    try {
      const user = await reviews.authenticate(token, signal);
      if (user === undefined) {
        return 'Unauthenticated';
      }
      return (await reviews.mayGet(user, path, signal)) ? 'Allowed' : 'Forbidden';
    } finally {
      underWay -= 1;
    }
  }

  function remember(key: string, verdict: Promise<Verdict>): void {
    const entry = { verdict, until: seconds(monotonic() + VERDICT_LIFETIME) };
    remembered.delete(key);
    remembered.set(key, entry);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_VERDICTS && oldest !== undefined) {
      remembered.delete(oldest);
    }
    verdict.catch(() => {
      // Whoever waits for it hears why; the next one asks anew.
      if (remembered.get(key) === entry) {
        remembered.delete(key);
      }
    });
  }

  function verdictOn(token: string, signal: AbortSignal): Promise<Verdict> | undefined {
    const key = createHash('sha256').update(token).digest('base64');
    const known = remembered.get(key);
    if (known !== undefined && monotonic() < known.until) {
      return known.verdict;
    }
    if (underWay >= MAX_REVIEWS) {
      return undefined;
    }
    const verdict = review(token, signal);
    remember(key, verdict);
    return verdict;
  }

  return async (request, signal) => {
    const token = bearerToken(request);
    if (token === undefined) {
      return refuse('Unauthenticated', path, role);
    }
    try {
      const verdict = await verdictOn(token, signal);
      return verdict === undefined ? TOO_MANY : refuse(verdict, path, role);
    } catch (error) {
      report(error);
      return UNKNOWN;
    }
  };
}

/** RFC 6750, section 2.1. */
function bearerToken({ headers }: IncomingMessage): string | undefined {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

const UNKNOWN: Answer = { code: 503, body: 'the API server cannot say who you are: try again later\n' };
const TOO_MANY: Answer = { code: 503, body: 'too many tokens at a time\n', headers: { 'retry-after': '1' } };

function refuse(verdict: Verdict, path: string, role: string): Answer | undefined {
  switch (verdict) {
    case 'Allowed':
      return undefined;
    case 'Unauthenticated':
      return {
        code: 401,
        body: 'send Authorization: Bearer TOKEN with a token of this cluster\n',
        headers: { 'www-authenticate': 'Bearer' },
      };
    case 'Forbidden':
      return { code: 403, body: `you may not get ${path}: bind the ClusterRole ${role}\n` };
    default:
      return verdict satisfies never;
  }
}
