/** `work`, done once for each object and remembered as long as that is in use: for objects that nobody changes in place. */
export function oncePer<Key extends object, Value extends object>(work: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = work(key);
      known.set(key, value);
    }
    return value;
  };
}
