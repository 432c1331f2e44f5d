import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
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
} from '../../src/adapters/http/der.ts';

/** A key with its certificate, both in PEM. */
export interface KeyPair {
  readonly key: string;
  readonly certificate: string;
}

/** A certificate authority: issues pairs that verify against its certificate. */
export interface Authority {
  readonly certificate: string;
  /** A server pair for 127.0.0.1, localhost and the given DNS names. */
  serving(commonName: string, dnsNames?: readonly string[]): KeyPair;
  /** A client pair; Kubernetes reads the user name from CN and the groups from O. */
  client(commonName: string, organization?: string): KeyPair;
}

/** The key pair that signs and verifies service account tokens, in PEM. */
export interface SigningKeys {
  readonly privateKey: string;
  readonly publicKey: string;
}

type Name = readonly [attribute: string, value: string][];
type Purpose =
  | { readonly kind: 'ca' }
  | { readonly kind: 'client' }
  | { readonly kind: 'server'; readonly dnsNames: readonly string[] };

interface Issuer {
  readonly name: Name;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const organizationAttribute = '2.5.4.10';
const commonNameAttribute = '2.5.4.3';
const ecdsaWithSha256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const dayInMilliseconds = 86_400_000;

/** A new self-signed authority; keys are ECDSA P-256, certificates hold for a year. */
export function createAuthority(commonName: string): Authority {
  const issuer: Issuer = { name: [[commonNameAttribute, commonName]], ...newKeys() };
  const issue = (subject: Name, purpose: Purpose): KeyPair => {
    const keys = newKeys();
    return { key: privatePem(keys.privateKey), certificate: certificateFor(subject, keys.publicKey, issuer, purpose) };
  };
  return {
    certificate: certificateFor(issuer.name, issuer.publicKey, issuer, { kind: 'ca' }),
    serving: (serverName, dnsNames = []) =>
      issue([[commonNameAttribute, serverName]], { kind: 'server', dnsNames: ['localhost', ...dnsNames] }),
    client: (user, organization) => issue(clientName(user, organization), { kind: 'client' }),
  };
}

/** New keys for service account tokens. */
export function createSigningKeys(): SigningKeys {
  const { privateKey, publicKey } = newKeys();
  return {
    privateKey: privatePem(privateKey),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

function newKeys(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function clientName(user: string, organization: string | undefined): Name {
  const commonName: [string, string] = [commonNameAttribute, user];
  return organization === undefined ? [commonName] : [[organizationAttribute, organization], commonName];
}

/** RFC 5280, section 4.1. */
function certificateFor(subject: Name, publicKey: KeyObject, issuer: Issuer, purpose: Purpose): string {
  const now = Date.now();
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(15)),
    ecdsaWithSha256,
    encodedName(issuer.name),
    sequence(utcTime(new Date(now - dayInMilliseconds)), utcTime(new Date(now + 365 * dayInMilliseconds))),
    encodedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...keyIdentifiers(publicKey, issuer), ...purposeExtensions(purpose))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, issuer.privateKey)));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function encodedName(name: Name): Buffer {
  return sequence(...name.map(([attribute, value]) => setOf(sequence(objectIdentifier(attribute), utf8String(value)))));
}

/** RFC 5280, section 4.2.1.1 and 4.2.1.2; strict verifiers refuse certificates without them. */
function keyIdentifiers(publicKey: KeyObject, issuer: Issuer): readonly Buffer[] {
  return [
    extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
    extension('2.5.29.35', sequence(implicit(0, keyIdentifier(issuer.publicKey)))),
  ];
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
}

/** RFC 5280, section 4.2: basicConstraints, keyUsage, extKeyUsage and subjectAltName as the purpose needs them. */
function purposeExtensions(purpose: Purpose): readonly Buffer[] {
  if (purpose.kind === 'ca') {
    const certSignAndCrlSign = bitString(Buffer.from([0b0000_0110]), 1);
    return [extension('2.5.29.19', sequence(booleanTrue()), true), extension('2.5.29.15', certSignAndCrlSign, true)];
  }
  const usage = extension('2.5.29.15', bitString(Buffer.from([0b1000_0000]), 7), true); // digitalSignature
  if (purpose.kind === 'client') {
    return [usage, extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.2')))];
  }
  const dnsNames = purpose.dnsNames.map((name) => implicit(2, Buffer.from(name, 'ascii')));
  const address = implicit(7, Buffer.from([127, 0, 0, 1]));
  return [
    usage,
    extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', sequence(...dnsNames, address)),
  ];
}

function extension(identifier: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(identifier), ...(critical ? [booleanTrue()] : []), octetString(value));
}
