import type { LabelSelectorField } from './v1alpha1/schema.ts';

/** Expressions of a label selector, all of which must hold. */
export type LabelExpressions = NonNullable<LabelSelectorField['matchExpressions']>;

/** A selector in one line that is none; the message says which part, and what to write. */
export class LabelSelectorError extends Error {
  override readonly name = 'LabelSelectorError';
}

/**
 * Expressions of a selector in one line, as `kubectl -l` takes it (apimachinery labels.Parse):
 * `app=web,tier!=db,zone in (b, c),rack notin (1),canary,!old`; none for an empty text. Throws LabelSelectorError.
 */
export function parseLabelSelector(text: string): LabelExpressions {
  return text.trim() === '' ? [] : partsOf(text).map((part) => expressionOf(part.trim()));
}

/** Parts between commas that stand in no parentheses. One pass: what users write may be long. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let begin = 0;
  let isInside = false;
  for (let place = 0; place < text.length; place += 1) {
    const character = text[place];
    if (character === '(') {
      isInside = true;
    } else if (character === ')') {
      isInside = false;
    } else if (character === ',' && !isInside) {
      parts.push(text.slice(begin, place));
      begin = place + 1;
    }
  }
  return [...parts, text.slice(begin)];
}

function expressionOf(part: string): LabelExpressions[number] {
  const [, key, comparison, value] = /^([\w./-]+)\s*(==?|!=)\s*([\w.-]*)$/.exec(part) ?? [];
  if (key !== undefined) {
    return { key, operator: comparison === '!=' ? 'NotIn' : 'In', values: [value ?? ''] };
  }
  const [, member, not, list] = /^([\w./-]+)\s+(notin|in)\s*\(([\w.,\s-]*)\)$/.exec(part) ?? [];
  if (member !== undefined) {
    const values = (list ?? '').split(',').map((each) => each.trim());
    return { key: member, operator: not === 'notin' ? 'NotIn' : 'In', values };
  }
  const [, negation, name] = /^(!?)\s*([\w./-]+)$/.exec(part) ?? [];
  if (name === undefined) {
    throw new LabelSelectorError(
      `"${part}" is no part of a label selector: write key=value, key!=value, key in (a, b), key notin (a, b), key or !key, joined by commas`,
    );
  }
  return { key: name, operator: negation === '!' ? 'DoesNotExist' : 'Exists' };
}
