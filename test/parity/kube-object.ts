/** Part of an object as JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Labels as JSON. */
export type LabelsJson = Readonly<Record<string, string>>;

/** Metadata as a test writes it, or as the API server returns it. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: LabelsJson;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly Json[];
  readonly deletionTimestamp?: string;
}

/** An object of any kind. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: Json;
  readonly [field: string]: unknown;
}

/** A Pod. */
export interface PodObject extends KubeObject {
  readonly spec: Json & { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** A condition in a status. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** `namespace/name`, or the bare name of what has no namespace. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
