import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, createSigningKeys, type KeyPair } from './pki.ts';

/** Paths of a key and its certificate. */
export interface PairFiles {
  readonly keyFile: string;
  readonly certificateFile: string;
}

/** Everything that the programs of a cluster need to trust one another. */
export interface Certificates {
  readonly caFile: string;
  readonly ca: string;
  readonly frontProxyCaFile: string;
  readonly apiserver: PairFiles;
  /** Serves kwok's kubelet API and metrics-server. */
  readonly loopback: PairFiles;
  readonly frontProxyClient: PairFiles;
  readonly serviceAccountPrivateKeyFile: string;
  readonly serviceAccountPublicKeyFile: string;
  /** A client pair for a user of the cluster. */
  client(user: string, group?: string): KeyPair;
}

/** Makes the authorities, pairs and keys of one cluster and writes them to `folder`. */
export function createCertificates(folder: string): Certificates {
  const write = (name: string, content: string): string => {
    const file = join(folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };
  const writePair = (name: string, pair: KeyPair): PairFiles => ({
    keyFile: write(`${name}.key`, pair.key),
    certificateFile: write(`${name}.crt`, pair.certificate),
  });
  const ca = createAuthority('ca');
  const frontProxyCa = createAuthority('front-proxy-ca');
  const signing = createSigningKeys();
  const serviceNames = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  return {
    caFile: write('ca.crt', ca.certificate),
    ca: ca.certificate,
    frontProxyCaFile: write('front-proxy-ca.crt', frontProxyCa.certificate),
    apiserver: writePair('apiserver', ca.serving('kube-apiserver', serviceNames)),
    loopback: writePair('loopback', ca.serving('loopback')),
    frontProxyClient: writePair('front-proxy-client', frontProxyCa.client('front-proxy-client')),
    serviceAccountPrivateKeyFile: write('service-account.key', signing.privateKey),
    serviceAccountPublicKeyFile: write('service-account.pub', signing.publicKey),
    client: (user, group) => ca.client(user, group),
  };
}
