import { endOf, type KeyPair, problemOf } from './key-pair.ts';

/**
 * The pairs that all replicas share. A pair is announced before it is served and stays trusted after it was, so that at no
 * moment a server presents a certificate that its clients do not know yet, or no longer.
 */
export interface SharedPairs {
  /** Served now. */
  readonly current: KeyPair;
  /** Served next. */
  readonly next?: {
    readonly pair: KeyPair;
    /** Since when clients were seen to trust it, in milliseconds since the epoch; undefined while they were not. */
    readonly trusted: number | undefined;
  };
  /** Served before: a replica that has not heard of the change may still present it. */
  readonly previous?: { readonly cert: string; readonly since: number };
}

/** Times of a rotation, in milliseconds. */
export interface RotationTimes {
  /** How long a certificate is valid. */
  readonly lifetime: number;
  /** How long every client and every replica may take to hear of a change. */
  readonly settling: number;
  /** How often a replica looks. */
  readonly period: number;
}

const DAY = 86_400_000;

/** A year, as other certificates of this operator; an operator that was away for half of it finds a valid one. */
export const WEBHOOK_LIFETIME: number = 365 * DAY;
/** API servers hear of a change within a second or two, and replicas within one period; the rest is for those that are slow. */
const SETTLING = 120_000;
/** Two small reads each time. */
const PERIOD = 10_000;

/** Times for certificates of this lifetime in milliseconds: shorter ones, as tests have them, shorten all. */
export function rotationTimes(lifetime: number): RotationTimes {
  const settling = Math.min(SETTLING, lifetime / 8);
  return { lifetime, settling, period: Math.min(PERIOD, settling / 3) };
}

/**
 * One step of the rotation at `now`, in milliseconds since the epoch; `pairs` itself when there is nothing to do. A new pair is
 * made by `create` when half of the lifetime of the current one is over, served when it has been trusted long enough, and the
 * old one is trusted no more when it has not been served long enough. `trusted` is what clients trust now, in PEM.
 */
export function rotate(
  pairs: SharedPairs | undefined,
  trusted: string,
  now: number,
  { lifetime, settling }: RotationTimes,
  create: () => KeyPair,
): SharedPairs {
  if (pairs === undefined || problemOf(pairs.current, now) !== undefined) {
    return { current: pairs?.next?.pair ?? create() };
  }
  const { current, next, previous } = pairs;
  if (previous !== undefined && now - previous.since >= settling) {
    return next === undefined ? { current } : { current, next };
  }
  if (next === undefined) {
    return endOf(current) - now < lifetime / 2 ? { ...pairs, next: { pair: create(), trusted: undefined } } : pairs;
  }
  const isTrusted = trusted.includes(next.pair.cert.trim());
  if (isTrusted !== (next.trusted !== undefined)) {
    return { ...pairs, next: { pair: next.pair, trusted: isTrusted ? now : undefined } };
  }
  return next.trusted !== undefined && now - next.trusted >= settling
    ? { current: next.pair, previous: { cert: current.cert, since: now } }
    : pairs;
}

/** All certificates that clients should trust, in PEM. */
export function bundleFor({ current, next, previous }: SharedPairs): string {
  return [current.cert, next?.pair.cert ?? '', previous?.cert ?? ''].join('');
}

/** The entries of the Secret that the pairs are kept in. */
export function toEntries({ current, next, previous }: SharedPairs): Readonly<Record<string, string>> {
  return {
    'tls.crt': current.cert,
    'tls.key': current.key,
    ...(next === undefined ? {} : { 'next.crt': next.pair.cert, 'next.key': next.pair.key }),
    ...(next?.trusted === undefined ? {} : { 'next.trusted': String(next.trusted) }),
    ...(previous === undefined ? {} : { 'previous.crt': previous.cert, 'previous.since': String(previous.since) }),
  };
}

/** Reads what `toEntries` has written; undefined for a Secret without a pair. */
export function fromEntries(entries: Readonly<Record<string, string>>): SharedPairs | undefined {
  const current = pairAt(entries, 'tls');
  const next = pairAt(entries, 'next');
  const { 'next.trusted': trusted, 'previous.crt': cert, 'previous.since': since } = entries;
  if (current === undefined) {
    return undefined;
  }
  return {
    current,
    ...(next === undefined
      ? {}
      : { next: { pair: next, trusted: trusted === undefined ? undefined : Number(trusted) } }),
    ...(cert === undefined ? {} : { previous: { cert, since: Number(since ?? 0) } }),
  };
}

function pairAt(entries: Readonly<Record<string, string>>, name: string): KeyPair | undefined {
  const { [`${name}.crt`]: cert = '', [`${name}.key`]: key = '' } = entries;
  return cert === '' || key === '' ? undefined : { cert, key };
}
