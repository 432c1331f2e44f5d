import { request } from 'node:https';

/** What came back from a scrape. */
export interface Scrape {
  readonly code: number;
  readonly body: string;
  /** SHA-256 of the certificate that the server presented. */
  readonly certificate: string;
}

/** Gets a path by HTTPS from a server on the loopback, whose certificate is looked at but not verified, on a new connection. */
export function scrape(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Scrape> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false });
    sent.on('response', (response) => {
      const socket = response.socket as unknown as { getPeerCertificate(): { fingerprint256: string } };
      const { fingerprint256 } = socket.getPeerCertificate();
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          certificate: fingerprint256,
        }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}
