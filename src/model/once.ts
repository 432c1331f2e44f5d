/** What `make` returns, made when it is first asked for; where that is a promise, all wait for the same. */
export function once<Value>(make: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => {
    known ??= { value: make() };
    return known.value;
  };
}
