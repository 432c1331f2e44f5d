import { LOG_FIELDS, LOG_LINES } from '../../src/log-lines.ts';

/** Every line of the operator's log as Markdown, and what its fields mean. */
export function logReference(): string {
  const lines = Object.entries(LOG_LINES).map(
    ([line, { level, when, fields }]) =>
      `| \`${line}\` | ${level} | ${when} | ${fields.map((field) => `\`${field}\``).join(', ')} |`,
  );
  const fields = Object.entries(LOG_FIELDS).map(([field, meaning]) => `| \`${field}\` | ${meaning} |`);
  return `# Log

Written by \`npm run generate\` from the vocabulary of the operator. Each line is a JSON object with \`time\` (ISO 8601, UTC), \`level\`,
\`msg\` and the fields below. A field without a value is left out. [monitoring.md](../monitoring.md#log) quotes the log of a plan.

## Lines

| \`msg\` | level | when | fields |
|---|---|---|---|
${lines.join('\n')}

## Fields

| field | meaning |
|---|---|
${fields.join('\n')}
`;
}
