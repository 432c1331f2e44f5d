import { createPrivateKey, X509Certificate } from 'node:crypto';

/** A private key and its certificate, or chain of certificates with its own first, both in PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** Why the pair cannot be served with at `now`, in milliseconds since the epoch; undefined when it can. */
export function problemOf({ key, cert }: KeyPair, now: number): string | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    return 'the certificate is not one in PEM';
  }
  try {
    if (!certificate.checkPrivateKey(createPrivateKey(key))) {
      return 'the private key is not that of the certificate';
    }
  } catch {
    return 'the private key is not one in PEM, or is encrypted';
  }
  return certificate.validToDate.getTime() < now ? `the certificate expired at ${certificate.validTo}` : undefined;
}

/** SHA-256 fingerprint of the certificate, in hexadecimal with colons, to compare by eye or to pin. */
export function fingerprintOf({ cert }: KeyPair): string {
  return new X509Certificate(cert).fingerprint256;
}

/** When the certificate ends, in milliseconds since the epoch. */
export function endOf({ cert }: KeyPair): number {
  return new X509Certificate(cert).validToDate.getTime();
}
