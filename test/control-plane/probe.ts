import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

/**
 * Whether a server on this machine answers a GET with 200 within two seconds. Health endpoints are open to everybody,
 * and some programs make up a certificate for theirs, so it is not verified.
 */
export function answersOk(url: string): Promise<boolean> {
  const get = url.startsWith('https:') ? getHttps : getHttp;
  return new Promise((resolve) => {
    const call = get(url, { rejectUnauthorized: false, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once('error', () => resolve(false));
    call.once('timeout', () => call.destroy());
  });
}
