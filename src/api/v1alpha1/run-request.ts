/** Annotation of a RebalancePolicy that asks for a run now; `evenkeel run` writes the time into it. */
export const RUN_REQUEST_ANNOTATION = 'evenkeel.dev/run-requested-at';

/** Characters of a request that are compared, and kept in the status. */
export const RUN_REQUEST_LENGTH = 64;

/** The run that people ask for: the annotation's value, whose first 64 characters count. `undefined`: none was ever asked for. */
export function runRequestOf({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}): string | undefined {
  return metadata.annotations?.[RUN_REQUEST_ANNOTATION]?.slice(0, RUN_REQUEST_LENGTH);
}
