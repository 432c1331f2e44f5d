import { junitXml } from './junit.ts';
import { type SarifRule, sarifLog } from './sarif.ts';

/** Something that is wrong with a file of resources, where it stands. */
export interface Finding {
  readonly file: string;
  /** 1-based; 0 when the whole file is meant. */
  readonly line: number;
  readonly column: number;
  /** Id of one of RULES. */
  readonly rule: FindingRule;
  /** A warning may be meant that way. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** Kinds of findings. */
export type FindingRule =
  | 'file'
  | 'yaml'
  | 'unknown-field'
  | 'schema'
  | 'schedule'
  | 'reference'
  | 'duplicate-name'
  | 'overlap'
  | 'unreachable-promise'
  | 'repair-without-effect'
  | 'pack-without-effect'
  | 'shared-workload';

const RULES: readonly (SarifRule & { readonly id: FindingRule })[] = [
  { id: 'file', description: 'A file holds resources, and not too many of them.' },
  { id: 'yaml', description: 'A file is YAML or JSON.' },
  { id: 'unknown-field', description: 'A resource has only fields that its kind has.' },
  { id: 'schema', description: 'Values are what the schema and the CEL rules of their kind allow.' },
  { id: 'schedule', description: 'Schedules are cron expressions of five fields in an IANA time zone.' },
  { id: 'reference', description: 'What a scenario names is there and fits together.' },
  { id: 'duplicate-name', description: 'A name is given once to each kind.' },
  { id: 'overlap', description: 'Policies do not select the same pods.' },
  { id: 'unreachable-promise', description: 'Budgets of QoSDriven allow evictions.' },
  { id: 'repair-without-effect', description: 'Repairs can move pods.' },
  { id: 'pack-without-effect', description: 'Budgets of Pack allow whole nodes to be emptied.' },
  { id: 'shared-workload', description: 'A workload is a member of one AppGraph.' },
];

/** Findings as JUnit XML: one case for each file, which fails when there is an error in it. */
export function findingsJunit(suite: string, files: readonly string[], findings: readonly Finding[]): string {
  const cases = files.map((file) => {
    const own = findings.filter((finding) => finding.file === file);
    const lines = (severity: Finding['severity']): readonly string[] =>
      own
        .filter((finding) => finding.severity === severity)
        .map(({ line, column, message }) => (line === 0 ? message : `${line}:${column}: ${message}`));
    const [errors, warnings] = [lines('error'), lines('warning')];
    return {
      group: 'evenkeel.lint',
      name: file,
      failure: errors.length === 0 ? undefined : errors.join('\n'),
      ...(warnings.length === 0 ? {} : { output: warnings.join('\n') }),
    };
  });
  return junitXml(suite, cases);
}

/** Findings as SARIF. */
export function findingsSarif(version: string, findings: readonly Finding[]): string {
  const results = findings.map(({ file, line, column, rule, severity, message }) => ({
    rule,
    level: severity,
    message,
    place: line === 0 ? { file, line: 1 } : { file, line, column },
  }));
  return sarifLog(version, RULES, results);
}
