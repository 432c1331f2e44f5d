/**
 * The few DER encodings (ITU-T X.690) that an X.509 certificate is made of. Node's crypto makes and checks keys and
 * signatures but cannot issue certificates. Libraries that can bring twenty packages along, or make RSA signatures in
 * JavaScript; this only writes, and a parser is where such code goes wrong.
 */

/** One tag-length-value triple around the concatenated contents. */
export function tagged(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

function lengthOf(content: Buffer): Buffer {
  if (content.length < 0x80) {
    return Buffer.from([content.length]);
  }
  const hex = content.length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

/** SEQUENCE of its items. */
export function sequence(...items: readonly Buffer[]): Buffer {
  return tagged(0x30, ...items);
}

/** SET of its items. */
export function setOf(...items: readonly Buffer[]): Buffer {
  return tagged(0x31, ...items);
}

/** Context-specific constructed tag: `[index] EXPLICIT`. */
export function explicit(index: number, content: Buffer): Buffer {
  return tagged(0xa0 | index, content);
}

/** Context-specific primitive tag: `[index] IMPLICIT`. */
export function implicit(index: number, content: Buffer): Buffer {
  return tagged(0x80 | index, content);
}

/** INTEGER from big-endian bytes: positive, and in the fewest bytes, as DER demands and Go's parser checks. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : bytes.subarray(first);
  return tagged(0x02, (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

/** BOOLEAN TRUE; DER leaves a false default out. */
export function booleanTrue(): Buffer {
  return tagged(0x01, Buffer.from([0xff]));
}

/** BIT STRING; `unusedBits` counts the padding bits at the end of the last byte. */
export function bitString(bytes: Buffer, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.from([unusedBits]), bytes);
}

/** OCTET STRING. */
export function octetString(bytes: Buffer): Buffer {
  return tagged(0x04, bytes);
}

/** UTF8String. */
export function utf8String(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text, 'utf8'));
}

/** UTCTime, to the second; valid for dates before 2050. */
export function utcTime(date: Date): Buffer {
  return tagged(0x17, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`, 'ascii'));
}

/** OBJECT IDENTIFIER from its dotted form, such as `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): readonly number[] {
  const low = arc & 0x7f;
  const digits = [low];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift((rest & 0x7f) | 0x80);
  }
  return digits;
}
