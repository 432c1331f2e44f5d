import { createMetrics } from '../../src/report/metrics/metrics.ts';

/** Every metric of the operator as Markdown, those of the Node runtime left out. */
export async function metricsReference(): Promise<string> {
  const metrics = await createMetrics('0').registry.getMetricsAsArray();
  const rows = metrics
    .map((metric) => metric as unknown as MetricDeclaration)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(
      ({ name, help, labelNames }) =>
        `| \`${name}\` | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    );
  return `# Metrics

Written by \`npm run generate\` from what the operator registers. It serves them at \`/metrics\` besides those of its Node runtime
(\`process_*\`, \`nodejs_*\`). No metric has a label for a pod, a node or a uid.

| metric | labels | meaning |
|---|---|---|
${rows.join('\n')}
`;
}

interface MetricDeclaration {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}
