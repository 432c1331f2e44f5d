import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
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
import type { KeyPair } from './key-pair.ts';

const DAY = 86_400_000;
/** How long a certificate holds, in milliseconds. */
export const LIFETIME: number = 365 * DAY;

const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));

/**
 * A new ECDSA P-256 key with a certificate for a server of these names (DNS names and IPv4 addresses, the first is its
 * common name), signed by itself and good for a year from `now`, in milliseconds since the epoch. It encrypts; that it
 * is ours nobody can tell but by its fingerprint.
 */
export function createSelfSigned(names: readonly [string, ...string[]], now: number): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = tbsCertificate(names, publicKey, now);
  const der = sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, privateKey)));
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** RFC 5280, section 4.1; a day before now, for clocks that are behind. */
function tbsCertificate(names: readonly [string, ...string[]], publicKey: KeyObject, now: number): Buffer {
  const name = sequence(setOf(sequence(objectIdentifier('2.5.4.3'), utf8String(names[0].slice(0, 64)))));
  return sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(15)),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(new Date(now - DAY)), utcTime(new Date(now + LIFETIME))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions(names, publicKey))),
  );
}

/** RFC 5280, section 4.2: key identifier, no authority, signs and serves, and the names. */
function extensions(names: readonly string[], publicKey: KeyObject): readonly Buffer[] {
  const identifier = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
  return [
    extension('2.5.29.14', octetString(identifier)),
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
