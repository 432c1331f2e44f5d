import { escapeJson, escapeSarif } from '../model/escape.ts';

/** A kind of finding. */
export interface SarifRule {
  readonly id: string;
  /** One sentence. */
  readonly description: string;
}

/** One finding. */
export interface SarifResult {
  readonly rule: string;
  readonly level: 'error' | 'warning' | 'note';
  readonly message: string;
  /** Where it stands; `undefined`: in no file. */
  readonly place: SarifPlace | undefined;
}

/** A place in a file. */
export interface SarifPlace {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1; `undefined`: the line as a whole. */
  readonly column?: number | undefined;
}

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** Findings as SARIF 2.1.0 (OASIS), which code hosts show beside the lines of a pull request. */
export function sarifLog(version: string, rules: readonly SarifRule[], results: readonly SarifResult[]): string {
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'evenkeel',
            version,
            semanticVersion: version,
            rules: rules.map(({ id, description }) => ({
              id,
              shortDescription: { text: description },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: results.map((result) => toResult(result, rules)),
      },
    ],
  };
  return `${escapeJson(JSON.stringify(log, null, 2))}\n`;
}

function toResult({ rule, level, message, place }: SarifResult, rules: readonly SarifRule[]): object {
  return {
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level,
    message: { text: escapeSarif(message) },
    ...(place === undefined ? {} : { locations: [{ physicalLocation: toLocation(place) }] }),
  };
}

function toLocation({ file, line, column }: SarifPlace): object {
  return {
    artifactLocation: { uri: toUri(file) },
    region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) },
  };
}

/** A file name as a URI reference (RFC 3986): relative ones stay relative, so that they name files of a repository. */
function toUri(file: string): string {
  const path = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${encoded}` : encoded;
}
