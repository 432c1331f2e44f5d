/** There is no usable description of a cluster; the message says which file and what to write. No stack trace is needed. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}
