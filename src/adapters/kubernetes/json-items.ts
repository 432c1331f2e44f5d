import { ApiError } from './api-error.ts';

/** Reads the items of a list one by one as its bytes arrive. */
export interface ItemScanner {
  /** Takes the next bytes; calls back with each item that is complete. Throws ApiError when something is too long. */
  push(chunk: Uint8Array): void;
  /** The list without its items, as JSON text: all of the body when it is no list. */
  frame(): string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Longest item, in bytes: far above the largest object that etcd takes (1.5 MiB by default). */
const LONGEST_ITEM = 16 * 2 ** 20;
/** Longest list without its items, in bytes: apiVersion, kind and metadata. */
const LONGEST_FRAME = 2 ** 20;

/** Depth inside of the array in `{"items": [`. */
const LIST_DEPTH = 2;

/**
 * A scanner for `{..., "items": [{...}, {...}], ...}`: gives the text of each object that stands in an array at the first
 * level. So a list of any length needs the memory of one item, and no part of it blocks the event loop for long: JSON.parse
 * of whole pages of 500 pods takes longer, blocks it eight times as long, and needs eight times the memory
 * (`npm run bench:json-items`).
 */
export function createItemScanner(onItem: (text: string) => void): ItemScanner {
  const outside: Buffer[] = [];
  let item: Buffer[] = [];
  let depth = 0;
  let inArray = false;
  let inString = false;
  let escaped = false;
  /** Bytes that are kept of the current item, and of what is outside of items. */
  const kept = { item: 0, outside: 0 };

  function keep(part: keyof typeof kept, slice: Buffer): void {
    const [slices, longest] = part === 'item' ? [item, LONGEST_ITEM] : [outside, LONGEST_FRAME];
    kept[part] += slice.length;
    if (kept[part] > longest) {
      const what = part === 'item' ? 'an object' : 'a list without its items';
      throw new ApiError('BadAnswer', `the API server sent ${what} of more than ${longest} bytes`);
    }
    if (slice.length > 0) {
      // A copy, since a slice would keep the whole chunk alive.
      slices.push(Buffer.from(slice));
    }
  }

  function open(byte: number): boolean {
    const beginsItem = depth === LIST_DEPTH && inArray;
    depth += 1;
    if (depth === LIST_DEPTH) {
      inArray = byte === OPEN_ARRAY;
    }
    return beginsItem;
  }

  function close(): boolean {
    depth -= 1;
    return depth === LIST_DEPTH && inArray;
  }

  function finishItem(last: Buffer): void {
    onItem(item.length === 0 ? last.toString('utf8') : Buffer.concat([...item, last]).toString('utf8'));
    item = [];
    kept.item = 0;
  }

  /** The index of the quote that ends the string which is being read, or the end of the chunk. */
  function skipString(chunk: Buffer, start: number): number {
    let index = start;
    while (index < chunk.length) {
      const byte = chunk[index];
      if (escaped) {
        escaped = false;
      } else if (byte === BACKSLASH) {
        escaped = true;
      } else if (byte === QUOTE) {
        inString = false;
        return index;
      }
      index += 1;
    }
    return index;
  }

  function push(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    /** Where the current item, or the current stretch outside of items, begins in this chunk. */
    let begin = 0;
    for (let index = inString ? skipString(chunk, 0) + 1 : 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === QUOTE) {
        inString = true;
        index = skipString(chunk, index + 1);
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        if (open(byte)) {
          keep('outside', chunk.subarray(begin, index));
          begin = index;
        }
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        if (close()) {
          finishItem(chunk.subarray(begin, index + 1));
          begin = index + 1;
        }
      } else if (byte === COMMA && depth === LIST_DEPTH && inArray) {
        keep('outside', chunk.subarray(begin, index));
        begin = index + 1;
      }
    }
    keep(depth > LIST_DEPTH && inArray ? 'item' : 'outside', chunk.subarray(begin));
  }

  return { push, frame: () => Buffer.concat(outside).toString('utf8') };
}
