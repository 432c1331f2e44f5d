/** `make`, which is called when its value is first asked for, and never again. */
export function once<Value extends object>(make: () => Value): () => Value {
  let known: Value | undefined;
  return () => {
    known ??= make();
    return known;
  };
}
