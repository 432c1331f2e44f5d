import type { KeyPair } from './pki.ts';

/** How a user proves who it is. */
export type Credentials = KeyPair | { readonly token: string };

/** The text of a kubeconfig for one cluster and one user; JSON, which every YAML reader accepts. */
export function kubeconfig(url: string, ca: string, user: string, credentials: Credentials): string {
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'evenkeel-test', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: user, user: userEntry(credentials) }],
    contexts: [{ name: 'evenkeel-test', context: { cluster: 'evenkeel-test', user } }],
    'current-context': 'evenkeel-test',
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function userEntry(credentials: Credentials): Readonly<Record<string, string>> {
  if ('token' in credentials) {
    return { token: credentials.token };
  }
  return {
    'client-certificate-data': base64(credentials.certificate),
    'client-key-data': base64(credentials.key),
  };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
