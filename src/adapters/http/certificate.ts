import { open } from 'node:fs/promises';
import { endOf, type KeyPair, problemOf } from './key-pair.ts';
import { createSelfSigned, LIFETIME } from './self-signed.ts';

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

/** Hears of what becomes of a certificate. */
export interface CertificateListener {
  /** There is another one. What it throws goes to `failed`. */
  changed(keyPair: KeyPair): void;
  /** The new one cannot be had; the old one stays. Said once for each reason in a row. */
  failed(error: unknown): void;
}

/**
 * Loads from `source` every `period` milliseconds and says when the pair is another one. Owns its timer until the
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

  const timer = setInterval(() => {
    if (!busy) {
      busy = true;
      look()
        .catch(fail)
        .finally(() => {
          busy = false;
        });
    }
  }, period);
  timer.unref();
  return () => clearInterval(timer);
}
