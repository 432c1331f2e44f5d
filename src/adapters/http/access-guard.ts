import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Seconds, seconds } from '../../model/units.ts';
import { createRate, setBounded } from './rate.ts';
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

/**
 * Keeps reviews, of which each is up to two requests to the API server, within a rate. All guards of a server share it, and
 * those whose tokens were good have a share of their own: strangers with made-up tokens cannot lock them out.
 */
export interface ReviewLimits {
  /** Reviews when the limits allow it, else `undefined`. */
  review(token: TokenHash, address: string, ask: () => Promise<Verdict>): Promise<Verdict> | undefined;
}

interface GuardOptions {
  readonly reviews: AccessReviews;
  readonly limits: ReviewLimits;
  /** The path that it guards. */
  readonly path: string;
  /** The ClusterRole in deploy/ that lets people get it. */
  readonly role: string;
  /** Seconds on a clock that never goes back. */
  readonly monotonic: () => Seconds;
  /** Hears why the API server could not be asked. */
  readonly report: (error: unknown) => void;
}

/** Who may pass, or how to refuse the request. */
export type Admittance = { readonly reader: string } | { readonly refused: Answer };
/** Lets a request pass or refuses it. Never rejects. */
export type Guard = (request: IncomingMessage, signal: AbortSignal) => Promise<Admittance>;

/** How long a verdict counts, as in Kubernetes' own components (DelegatingAuthenticationOptions.CacheTTL). */
export const VERDICT_LIFETIME: Seconds = seconds(10);
/** Verdicts that are kept; then the oldest goes. */
const MAX_VERDICTS = 256;
/** Reviews under way at a time, and how many may begin, in each share. */
const MAX_REVIEWS = 8;
const REVIEW_RATE = { perSecond: 5, burst: 20 };
/** Tokens and addresses of readers that are known. */
const MAX_KNOWN = 256;

/** SHA-256 of a token. */
type TokenHash = string;
/** What the API server says of a token; `reader` is the name of its user. */
type Verdict =
  | { readonly kind: 'Allowed'; readonly reader: string }
  | { readonly kind: 'Unauthenticated' | 'Forbidden' };

/** Limits of reviews: so many a second for strangers, and as many for tokens and source addresses of known readers. */
export function createReviewLimits(monotonic: () => Seconds): ReviewLimits {
  const known = new Map<string, true>();
  const share = () => ({ mayBegin: createRate(REVIEW_RATE, monotonic), underWay: 0 });
  const shares = { known: share(), strangers: share() };
  return {
    review(token, address, ask) {
      const own = known.has(token) || known.has(address) ? shares.known : shares.strangers;
      if (own.underWay >= MAX_REVIEWS || !own.mayBegin()) {
        return undefined;
      }
      own.underWay += 1;
      return ask()
        .then((verdict) => {
          if (verdict.kind === 'Allowed') {
            setBounded(known, MAX_KNOWN, token, true);
            setBounded(known, MAX_KNOWN, address, true);
          }
          return verdict;
        })
        .finally(() => {
          own.underWay -= 1;
        });
    },
  };
}

interface Remembered {
  readonly verdict: Promise<Verdict>;
  readonly until: Seconds;
}

/**
 * A guard that passes whoever bears a token of a user who may `get` the path, by the API server's word, and nobody else:
 * 401 without a valid token, 403 without the right, 503 when the API server cannot be asked. Tokens are kept as hashes.
 */
export function createAccessGuard({ reviews, limits, path, role, monotonic, report }: GuardOptions): Guard {
  const remembered = new Map<string, Remembered>();

  async function review(token: string, signal: AbortSignal): Promise<Verdict> {
    const user = await reviews.authenticate(token, signal);
    if (user === undefined) {
      return { kind: 'Unauthenticated' };
    }
    const mayGet = await reviews.mayGet(user, path, signal);
    return mayGet ? { kind: 'Allowed', reader: user.username } : { kind: 'Forbidden' };
  }

  function remember(key: string, verdict: Promise<Verdict>): void {
    const entry = { verdict, until: seconds(monotonic() + VERDICT_LIFETIME) };
    setBounded(remembered, MAX_VERDICTS, key, entry);
    verdict.catch(() => {
      // Whoever waits for it hears why; the next one asks anew.
      if (remembered.get(key) === entry) {
        remembered.delete(key);
      }
    });
  }

  function verdictOn(token: string, address: string, signal: AbortSignal): Promise<Verdict> | undefined {
    const key = createHash('sha256').update(token).digest('base64');
    const known = remembered.get(key);
    if (known !== undefined && monotonic() < known.until) {
      return known.verdict;
    }
    const verdict = limits.review(key, address, () => review(token, signal));
    if (verdict !== undefined) {
      remember(key, verdict);
    }
    return verdict;
  }

  return async (request, signal) => {
    const token = bearerToken(request);
    if (token === undefined) {
      return { refused: UNAUTHENTICATED };
    }
    try {
      const verdict = await verdictOn(token, request.socket.remoteAddress ?? '', signal);
      return verdict === undefined ? { refused: TOO_MANY } : admit(verdict, path, role);
    } catch (error) {
      report(error);
      return { refused: UNKNOWN };
    }
  };
}

/** RFC 6750, section 2.1. */
function bearerToken({ headers }: IncomingMessage): string | undefined {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

const UNKNOWN: Answer = { code: 503, body: 'the API server cannot say who you are: try again later\n' };
/** Strangers need a new connection for each request, and the server limits how many they open. */
const TOO_MANY: Answer = {
  code: 503,
  body: 'too many tokens at a time\n',
  headers: { 'retry-after': '1', connection: 'close' },
};
const UNAUTHENTICATED: Answer = {
  code: 401,
  body: 'send Authorization: Bearer TOKEN with a token of this cluster\n',
  headers: { 'www-authenticate': 'Bearer', connection: 'close' },
};

function admit(verdict: Verdict, path: string, role: string): Admittance {
  switch (verdict.kind) {
    case 'Allowed':
      return verdict;
    case 'Unauthenticated':
      return { refused: UNAUTHENTICATED };
    case 'Forbidden':
      return { refused: { code: 403, body: `you may not get ${path}: bind the ClusterRole ${role}\n` } };
    default:
      return verdict satisfies never;
  }
}
