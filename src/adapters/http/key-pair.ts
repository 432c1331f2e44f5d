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
export function fingerprintOf({ cert }: Pick<KeyPair, 'cert'>): string {
  return new X509Certificate(cert).fingerprint256;
}

/** When the certificate ends, in milliseconds since the epoch. */
export function endOf({ cert }: KeyPair): number {
  return new X509Certificate(cert).validToDate.getTime();
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Why a client that trusts the certificates of `bundle` (PEM) would refuse a server with the certificate, or chain of
 * certificates, `cert` (PEM) at `now`, in milliseconds since the epoch; undefined when it would not. Names are not looked at.
 */
export function distrust(bundle: string, cert: string, now: number): string | undefined {
  const roots = certificatesIn(bundle);
  const [leaf, ...intermediates] = certificatesIn(cert);
  if (leaf === undefined) {
    return 'the certificate is not one in PEM';
  }
  if (leaf.validToDate.getTime() < now) {
    return `the certificate expired at ${leaf.validTo}`;
  }
  return isTrusted(leaf, intermediates, roots) ? undefined : 'the certificate is not among those that are trusted';
}

function isTrusted(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): boolean {
  const isIssuer = (other: X509Certificate): boolean =>
    certificate.checkIssued(other) && certificate.verify(other.publicKey);
  return (
    roots.some((root) => root.raw.equals(certificate.raw) || isIssuer(root)) ||
    intermediates.some(
      (other) =>
        isIssuer(other) &&
        isTrusted(
          other,
          intermediates.filter((each) => each !== other),
          roots,
        ),
    )
  );
}

/** What of a bundle can be read. */
function certificatesIn(pem: string): readonly X509Certificate[] {
  return (pem.match(CERTIFICATE) ?? []).flatMap((text) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      return [];
    }
  });
}
