import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSelfSigned, LIFETIME } from '../../../../src/adapters/http/certificate.ts';
import { distrust, fingerprintOf, problemOf } from '../../../../src/adapters/http/key-pair.ts';
import { createAuthority } from '../../../control-plane/pki.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('a self-signed certificate', () => {
  it('is signed by its own key, for its names and addresses, for a year, and is no authority', () => {
    const { cert } = createSelfSigned(['evenkeel', 'localhost', '127.0.0.1', '10.1.2.3'], NOW);
    const parsed = new X509Certificate(cert);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.subject).toBe('CN=evenkeel');
    expect(parsed.subjectAltName).toBe('DNS:evenkeel, DNS:localhost, IP Address:127.0.0.1, IP Address:10.1.2.3');
    expect(parsed.checkHost('localhost')).toBe('localhost');
    expect(parsed.checkIP('10.1.2.3')).toBe('10.1.2.3');
    expect(parsed.ca).toBe(false);
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(parsed.validToDate.getTime()).toBe(NOW + LIFETIME);
    expect(parsed.validFromDate.getTime()).toBeLessThan(NOW);
    expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });

  it('is another one each time', () => {
    const [first, second] = [createSelfSigned(['evenkeel'], NOW), createSelfSigned(['evenkeel'], NOW)];
    expect(fingerprintOf(first)).not.toBe(fingerprintOf(second));
    expect(new X509Certificate(first.cert).serialNumber).not.toBe(new X509Certificate(second.cert).serialNumber);
  });
});

describe('a key pair', () => {
  const pair = createSelfSigned(['evenkeel'], NOW);
  const other = createSelfSigned(['evenkeel'], NOW);

  it.each([
    ['fits', pair, NOW, undefined],
    ['has the key of another certificate', { ...pair, key: other.key }, NOW, 'the private key is not that of'],
    ['has no certificate', { ...pair, cert: 'text' }, NOW, 'the certificate is not one in PEM'],
    ['has no key', { ...pair, key: '' }, NOW, 'the private key is not one in PEM'],
    ['expired', pair, NOW + LIFETIME + 1, 'the certificate expired at Jan  1 00:00:00 2027 GMT'],
  ])('that %s has that problem', (_, keyPair, now, problem) => {
    const found = problemOf(keyPair, now);
    expect(problem === undefined ? found : found?.startsWith(problem)).toBe(problem === undefined ? undefined : true);
  });
});

describe('a certificate', () => {
  const pair = createSelfSigned(['evenkeel'], NOW);
  const other = createSelfSigned(['evenkeel'], NOW);
  const authority = createAuthority('someone');
  const issued = authority.serving('evenkeel').certificate;
  const untrusted = 'the certificate is not among those that are trusted';

  it.each([
    ['that is in the bundle', `${other.cert}${pair.cert}`, pair.cert, undefined],
    ['of the same name as another', other.cert, pair.cert, untrusted],
    ['of an authority', `text\n${authority.certificate}`, issued, undefined],
    ['of an authority by way of the chain', authority.certificate, `${issued}${authority.certificate}`, undefined],
    ['of another authority', createAuthority('someone').certificate, issued, untrusted],
    ['with an empty bundle', '', pair.cert, untrusted],
    ['that is none', pair.cert, 'text', 'the certificate is not one in PEM'],
  ])('%s is trusted, or it is said why not', (_what, bundle, cert, problem) => {
    expect(distrust(bundle, cert, NOW)).toBe(problem);
  });

  it('is not trusted when it has expired', () => {
    const problem = distrust(pair.cert, pair.cert, NOW + LIFETIME + 1);
    expect(problem).toBe('the certificate expired at Jan  1 00:00:00 2027 GMT');
  });
});
