import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { ControlPlane } from '../../control-plane/start.ts';
import {
  install,
  type OperatorOptions,
  type OperatorProcess,
  OVERLAYS,
  startOperator,
} from '../../support/operator-process.ts';
import { startWithWebhook } from '../../support/webhook.ts';

/** A way of steering to be measured. */
export interface Way {
  /** `spec.steering.mode` of the policy. */
  readonly mode: string;
  /** Installs the operator's objects, and what the way needs, before there are nodes. */
  install(cp: ControlPlane): Promise<void>;
  /** Does what is to be done once the first pods run. */
  prepare(cp: ControlPlane): Promise<void>;
  start(cp: ControlPlane, options: OperatorOptions): Promise<OperatorProcess>;
}

const nothing = async (): Promise<void> => undefined;

/** By the name that the command line takes. */
export const WAYS: Readonly<Record<string, Way>> = {
  AdmissionPolicy: {
    mode: 'AdmissionPolicy',
    install: (cp) => install(cp, 'default'),
    prepare: nothing,
    start: startOperator,
  },
  Webhook: { mode: 'Webhook', install: (cp) => install(cp, 'webhook'), prepare: nothing, start: startWithWebhook },
  Gate: {
    mode: 'Gate',
    install: (cp) => install(cp, 'gate'),
    prepare: async (cp) => {
      await cp.kubectl(['label', 'namespace', 'shop', 'evenkeel.dev/gate=enabled']);
    },
    start: startOperator,
  },
  // What there was before alternatives: a preference for the planned node, and nothing else.
  Preference: {
    mode: 'AdmissionPolicy',
    install: async (cp) => {
      await install(cp, 'default');
      await cp.apply([preferenceAlone()]);
    },
    prepare: nothing,
    start: startOperator,
  },
  None: { mode: 'None', install: (cp) => install(cp, 'default'), prepare: nothing, start: startOperator },
};

interface AdmissionPolicy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly variables: readonly { readonly name: string; readonly expression: string }[] };
}

/** Our admission policy, blind to alternatives and fallbacks. */
function preferenceAlone(): object {
  const text = readFileSync(join(OVERLAYS, 'default', 'placement-policy.yaml'), 'utf8');
  const documents = parseAllDocuments(text).map((each) => each.toJS() as AdmissionPolicy);
  const policy = documents.find(({ kind }) => kind === 'MutatingAdmissionPolicy');
  const blind: Readonly<Record<string, string>> = { isNarrowed: 'false', fallbacks: '[]' };
  const variables = (policy?.spec.variables ?? []).map(({ name, expression }) => ({
    name,
    expression: blind[name] ?? expression,
  }));
  return { ...policy, spec: { ...policy?.spec, variables } };
}
