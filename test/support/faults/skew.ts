import { Transform } from 'node:stream';

/** Milliseconds by which the clocks of other API servers are ahead, or behind. */
export const SKEW = 20_000;

/** The Date of an answer from a server whose clock is ahead of, or behind, that of the one that gave it. */
export function skewedDate(date: string, milliseconds: number): string {
  return new Date(Date.parse(date) + milliseconds).toUTCString();
}

/** The order of the fields is that of the API server's ObjectMeta. */
const CREATION =
  /("uid":"([0-9a-f-]{36})","resourceVersion":"\d+",(?:"generation":\d+,)?"creationTimestamp":")([0-9TZ:-]+)"/g;

/** The JSON of pods as it is when each was created by the API server that its UID falls to: one is ahead, one is behind. */
export function skewCreation(json: string): string {
  return json.replaceAll(CREATION, (_, before: string, uid: string, at: string) => {
    const skew = Number.parseInt(uid.slice(0, 1), 16) % 2 === 0 ? SKEW : -SKEW;
    return `${before}${new Date(Date.parse(at) + skew).toISOString().replace('.000Z', 'Z')}"`;
  });
}

/** The same for a stream: line by line, as watches are; a list is one line. */
export function creationSkewer(): Transform {
  const pieces: string[] = [];
  const decoder = new TextDecoder();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = decoder.decode(chunk, { stream: true }).split('\n');
      for (const line of lines.slice(0, -1)) {
        this.push(`${skewCreation(pieces.splice(0).join('') + line)}\n`);
      }
      pieces.push(lines.at(-1) ?? '');
      done();
    },
    flush(done) {
      this.push(skewCreation(pieces.join('')));
      done();
    },
  });
}
