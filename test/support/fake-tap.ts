/** Sees every call of a tapped port, before it begins and after it ended well. Throwing is what a crash looks like. */
export type Tap = (when: 'before' | 'after', call: string, args: readonly unknown[]) => void;

/** `port` with `tap` around each of its methods; a call is named `name.method`. */
export function tapped<Port extends object>(name: string, port: Port, tap: Tap): Port {
  return new Proxy(port, {
    get(target, key) {
      const method: unknown = Reflect.get(target, key);
      return typeof method === 'function'
        ? around(`${name}.${String(key)}`, method.bind(target) as Method, tap)
        : method;
    },
  });
}

type Method = (...args: readonly unknown[]) => unknown;

function around(call: string, method: Method, tap: Tap): Method {
  return (...args) => {
    const run = async (): Promise<unknown> => {
      tap('before', call, args);
      const result = await method(...args);
      tap('after', call, args);
      return result;
    };
    return run();
  };
}
