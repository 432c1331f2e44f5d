/**
 * Text from a cluster is data: whoever may write an annotation, a label or a message of a status must not move the cursor of
 * those who read it, write their clipboard, or add lines to a report. Each output format has one function here.
 */

/**
 * Characters that a terminal acts on or does not show: controls (C0, DEL, C1), format characters (bidirectional overrides,
 * zero width), lone surrogates, and line and paragraph separators (Unicode general categories Cc, Cf, Cs, Zl, Zp).
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const HIDDEN_IN_LINES = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line of text with hidden characters written as `\x1b`, `\n` or `\u{202e}`. Text that has been escaped stays as it is. */
export function escapeText(text: string): string {
  return text.replace(HIDDEN, shown);
}

/** The same for text whose line ends are meant. */
export function escapeLines(text: string): string {
  return text.replace(HIDDEN_IN_LINES, shown);
}

function shown(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return NAMES[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`);
}

/** JSON of the same value without hidden characters, which JSON has escapes for. */
export function escapeJson(json: string): string {
  return json.replace(HIDDEN_IN_LINES, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Whether YAML has to write a string in double quotes, the only style with escapes. */
export function needsQuotes(text: string): boolean {
  return text.search(HIDDEN_IN_LINES) >= 0;
}

/** YAML of the same value without hidden characters, if each string that `needsQuotes` is in double quotes. */
export function escapeYaml(yaml: string): string {
  return yaml.replace(HIDDEN_IN_LINES, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML, between tags and in attributes. */
export function escapeHtml(text: string): string {
  return escapeText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Text for XML 1.0, where line ends in an attribute are written as references. */
export function escapeXml(text: string): string {
  return escapeLines(text)
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replaceAll('\n', '&#10;')
    .replace(/[\ufffe\uffff]/g, '\ufffd');
}

/** A space without a width, as an entity: code hosts look for mentions, issues and addresses after they have read escapes. */
const BREAK = '&#8203;';

/**
 * Text for GitHub Flavored Markdown, in a cell of a table or within a line: no markup, HTML, link, mention or reference to an
 * issue comes of it.
 */
export function escapeMarkdown(text: string): string {
  return escapeText(text)
    .replace(/[\\`*_~[\]|]/g, '\\$&')
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/[@#](?=\w)|:(?=\/\/)|\bwww(?=\.)/gi, `$&${BREAK}`);
}

/** Text for a message of SARIF 2.1.0, in which brackets are links (section 3.11.6); and no mention, as code hosts show it. */
export function escapeSarif(text: string): string {
  return escapeText(text)
    .replace(/[\\[\]]/g, '\\$&')
    .replace(/@(?=\w)/g, '$&\u200b');
}
