/** Namespaces that are out of scope wherever the planner runs; the operator's own is `evenkeel-system` unless it says otherwise. */
export const EXCLUDED_NAMESPACES: ReadonlySet<string> = new Set(['kube-system', 'evenkeel-system']);
