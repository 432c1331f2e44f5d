import { POLICY_SETTINGS } from '../../src/import/descheduler/document.ts';
import { EVICTOR_SETTINGS } from '../../src/import/descheduler/evictor.ts';
import { type KnownPlugin, oldNameOf, PLUGINS } from '../../src/import/descheduler/plugins.ts';

/** Every setting of the descheduler that the import knows, as Markdown. */
export function deschedulerReference(): string {
  const plugins = PLUGINS.map(({ name, becomes }) => `| \`${name}\` | \`spec.${becomes}\` |`);
  return `# Settings of the descheduler

Written by \`npm run generate\` from the tables that \`evenkeel import descheduler-policy\` reads by. What differs in meaning is in
[descheduler.md](../descheduler.md), and in the notes of each import. "none": see there.

## Plugins

| descheduler | RebalancePolicy |
|---|---|
${plugins.join('\n')}

${PLUGINS.map(settingsOf).join('\n\n')}

## DefaultEvictor

| argument | RebalancePolicy |
|---|---|
${EVICTOR_SETTINGS.map(([theirs, ours]) => `| \`${theirs}\` | ${field(ours)} |`).join('\n')}

## DeschedulerPolicy

| setting | RebalancePolicy |
|---|---|
${POLICY_SETTINGS.map(([theirs, ours]) => `| \`${theirs}\` | ${field(ours)} |`).join('\n')}
`;
}

function settingsOf(plugin: KnownPlugin): string {
  const rows = plugin.settings.map(
    ([theirs, ours]) => `| \`${theirs}\` | \`${oldNameOf(plugin, theirs)}\` | ${field(ours)} |`,
  );
  return `## ${plugin.name}

| argument | parameter in v1alpha1 | RebalancePolicy |
|---|---|---|
${rows.join('\n')}`;
}

function field(ours: string): string {
  return ours === 'none' ? 'none' : `\`spec.${ours}\``;
}
