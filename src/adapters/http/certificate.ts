import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { open } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import {
  bitString,
  booleanTrue,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  utcTime,
  utf8String,
} from './der.ts';
import { endOf, type KeyPair, problemOf } from './key-pair.ts';

/** A certificate that cannot be served with; the message is for people. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** Where a server gets its key and certificate from. */
export interface CertificateSource {
  /** The pair to serve with as of `now`, in milliseconds since the epoch. Rejects with CertificateError. */
  load(now: number): Promise<KeyPair>;
}

/** Largest key or chain of certificates that is read, in bytes. */
const MAX_BYTES = 2 ** 20;

/** A pair in two PEM files, such as a mounted Secret of type kubernetes.io/tls: read anew each time. */
export function certificateFiles(certFile: string, keyFile: string): CertificateSource {
  return {
    async load(now) {
      // One after the other, so that of two files that are missing the same one is named each time.
      const cert = await readPem(certFile);
      const key = await readPem(keyFile);
      const problem = problemOf({ key, cert }, now);
      if (problem !== undefined) {
        throw new CertificateError(`${certFile} and ${keyFile}: ${problem}`);
      }
      return { key, cert };
    },
  };
}

async function readPem(path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      if (size > MAX_BYTES) {
        throw new CertificateError(`${path}: is larger than 1 MiB: write a key, or a chain of certificates, in PEM`);
      }
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CertificateError) {
      throw error;
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CertificateError(`${path}: cannot be read (${code})`, { cause: error });
  }
}

/** Pairs signed by themselves for a server of these names; a new one when half of the lifetime of the last is over. */
export function selfSignedCertificates(names: readonly [string, ...string[]]): CertificateSource {
  let current: KeyPair | undefined;
  return {
    async load(now) {
      if (current === undefined || endOf(current) - now < LIFETIME / 2) {
        current = createSelfSigned(names, now);
      }
      return current;
    },
  };
}

interface CertificateListener {
  /** There is another one. What it throws goes to `failed`. */
  changed(keyPair: KeyPair): void;
  /** The new one cannot be had; the old one stays. Said once for each reason in a row. */
  failed(error: unknown): void;
}

/**
 * Loads from `source` at once and every `period` milliseconds, and says when the pair is another one. Owns its timer until the
 * returned function is called.
 */
export function watchCertificate(
  source: CertificateSource,
  first: KeyPair,
  period: number,
  listener: CertificateListener,
): () => void {
  let current = first;
  let failure = '';
  let busy = false;

  async function look(): Promise<void> {
    const loaded = await source.load(Date.now());
    if (loaded.cert !== current.cert || loaded.key !== current.key) {
      listener.changed(loaded);
      current = loaded;
    }
    failure = '';
  }

  function fail(error: unknown): void {
    const last = failure;
    failure = String(error);
    if (failure !== last) {
      listener.failed(error);
    }
  }

  function tick(): void {
    if (!busy) {
      busy = true;
      look()
        .catch(fail)
        .finally(() => {
          busy = false;
        });
    }
  }

  tick();
  const timer = setInterval(tick, period);
  timer.unref();
  return () => clearInterval(timer);
}

const DAY = 86_400_000;
/** How long a certificate is valid unless said otherwise, in milliseconds. */
export const LIFETIME: number = 365 * DAY;

const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));

/**
 * A new ECDSA P-256 key with a certificate for a server of these names (DNS names and IPv4 addresses, the first is its
 * common name), signed by itself and valid for `lifetime` milliseconds from `now`, in milliseconds since the epoch. It is no
 * authority: who trusts it trusts this key and no other.
 */
export function createSelfSigned(
  names: readonly [string, ...string[]],
  now: number,
  lifetime: number = LIFETIME,
): KeyPair {
  // From a day ago, for clocks that are behind.
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = tbsCertificate(names, publicKey, { from: now - DAY, to: now + lifetime });
  const der = sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, privateKey)));
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** RFC 5280, section 4.1. */
function tbsCertificate(
  names: readonly [string, ...string[]],
  publicKey: KeyObject,
  { from, to }: { readonly from: number; readonly to: number },
): Buffer {
  const name = sequence(setOf(sequence(objectIdentifier('2.5.4.3'), utf8String(names[0].slice(0, 64)))));
  return sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(15)),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(new Date(from)), utcTime(new Date(to))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions(names, publicKey))),
  );
}

/** RFC 5280, section 4.2: key identifiers, no authority, signs and serves, and the names. */
function extensions(names: readonly string[], publicKey: KeyObject): readonly Buffer[] {
  const identifier = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
  return [
    extension('2.5.29.14', octetString(identifier)),
    // Its own key once more: of several certificates of this name, OpenSSL would else take any for the issuer.
    extension('2.5.29.35', sequence(implicit(0, identifier))),
    extension('2.5.29.19', sequence(), true), // basicConstraints: not an authority
    extension('2.5.29.15', bitString(Buffer.from([0b1000_0000]), 7), true), // keyUsage: digitalSignature
    extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'))), // extKeyUsage: serverAuth
    extension('2.5.29.17', sequence(...names.map(alternativeName))),
  ];
}

function alternativeName(name: string): Buffer {
  return isIPv4(name) ? implicit(7, Buffer.from(name.split('.').map(Number))) : implicit(2, Buffer.from(name, 'ascii'));
}

function extension(identifier: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(identifier), ...(critical ? [booleanTrue()] : []), octetString(value));
}
