import type { AccountName, ControlPlane } from '../control-plane/start.ts';

interface Rules {
  readonly resourceRules?: readonly ResourceRule[];
  readonly nonResourceRules?: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Binding {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** Asks the API server as this account, with its own token; resolves to the status of the review. */
async function reviewAs<Status>(cp: ControlPlane, account: AccountName, kind: string, spec: object): Promise<Status> {
  const kubeconfig = await cp.kubeconfigFor(account);
  const body = JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind, spec });
  const answer = await cp.kubectl(
    ['--kubeconfig', kubeconfig, 'create', '--validate=false', '-f', '-', '-o', 'json'],
    body,
  );
  return (JSON.parse(answer) as { readonly status: Status }).status;
}

/**
 * What the account may do in a namespace by the API server's own word (SelfSubjectRulesReview): one line for each resource
 * or URL, sorted.
 */
async function rulesOf(cp: ControlPlane, account: AccountName, namespace: string): Promise<readonly string[]> {
  const rules = await reviewAs<Rules>(cp, account, 'SelfSubjectRulesReview', { namespace });
  const urls = (rules.nonResourceRules ?? []).flatMap(({ verbs, nonResourceURLs = [] }) =>
    nonResourceURLs.map((url) => `${url}: ${[...verbs].sort().join(' ')}`),
  );
  return [...new Set([...(rules.resourceRules ?? []).flatMap(linesOf), ...urls])].sort();
}

function linesOf({ verbs, apiGroups = [], resources = [], resourceNames = [] }: ResourceRule): readonly string[] {
  const names = resourceNames.length === 0 ? '' : ` named ${[...resourceNames].sort().join(' ')}`;
  return apiGroups.flatMap((group) =>
    resources.map((resource) => {
      const [plural = '', subresource] = resource.split('/');
      const qualified = group === '' ? plural : `${plural}.${group}`;
      return `${qualified}${subresource === undefined ? '' : `/${subresource}`}${names}: ${[...verbs].sort().join(' ')}`;
    }),
  );
}

/** The bindings that name the account or a group of ServiceAccounts that it is in, one a line, sorted. */
async function bindingsOf(cp: ControlPlane, { namespace, name }: AccountName): Promise<readonly string[]> {
  const groups = new Set(['system:serviceaccounts', `system:serviceaccounts:${namespace}`]);
  const list = await cp.kubectl(['get', 'clusterrolebindings,rolebindings', '-A', '-o', 'json']);
  return (JSON.parse(list) as { readonly items: readonly Binding[] }).items
    .filter(({ subjects = [] }) =>
      subjects.some(
        (subject) =>
          (subject.kind === 'ServiceAccount' && subject.name === name && subject.namespace === namespace) ||
          (subject.kind === 'Group' && groups.has(subject.name)),
      ),
    )
    .map(({ kind, metadata, roleRef }) => {
      const where = metadata.namespace === undefined ? '' : ` in ${metadata.namespace}`;
      return `${kind} ${metadata.name}${where}: ${roleRef.kind} ${roleRef.name}`;
    })
    .sort();
}

/** Whether the account may do this (SelfSubjectAccessReview). */
export async function mayDo(
  cp: ControlPlane,
  account: AccountName,
  resourceAttributes: Readonly<Record<string, string>>,
): Promise<boolean> {
  const spec = { resourceAttributes };
  return (await reviewAs<{ readonly allowed: boolean }>(cp, account, 'SelfSubjectAccessReview', spec)).allowed;
}

/** What an account may do in its own namespace and elsewhere, and by which bindings, for a golden file. */
export async function rightsOf(cp: ControlPlane, account: AccountName): Promise<string> {
  const [own, elsewhere, system, bindings] = await Promise.all([
    rulesOf(cp, account, account.namespace),
    rulesOf(cp, account, 'default'),
    rulesOf(cp, account, 'kube-system'),
    bindingsOf(cp, account),
  ]);
  const differing = system
    .filter((line) => !elsewhere.includes(line))
    .concat(elsewhere.filter((line) => !own.includes(line)));
  if (differing.length > 0) {
    throw new Error(`other rights in some namespaces, which a golden file would not show: ${differing.join('; ')}`);
  }
  return [
    'Everywhere:',
    ...elsewhere.map((line) => `  ${line}`),
    'In its own namespace besides:',
    ...own.filter((line) => !elsewhere.includes(line)).map((line) => `  ${line}`),
    'By:',
    ...bindings.map((line) => `  ${line}`),
    '',
  ].join('\n');
}
