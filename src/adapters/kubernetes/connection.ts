/** What a TLS connection to the server needs; all undefined for plain HTTP. */
export interface TlsMaterial {
  readonly ca: string | Buffer | undefined;
  readonly cert: string | Buffer | undefined;
  readonly key: string | Buffer | undefined;
  readonly servername: string | undefined;
  /** False only where the kubeconfig says insecure-skip-tls-verify. */
  readonly rejectUnauthorized: boolean;
}

/** Proof of who asks, good for one request: tokens and certificates rotate. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** Which API server to talk to, and as whom. */
export interface Connection {
  /** URL of the server, path prefix included, without a slash at its end. */
  readonly server: string;
  /** Context of the kubeconfig, or `in-cluster`. */
  readonly context: string;
  /** Namespace of the context, or of the pod; `default` when neither names one. */
  readonly namespace: string;
  /** Proxy of the kubeconfig; undefined leaves it to the environment. */
  readonly proxy: string | undefined;
  /** Credentials as of now; cheap. Rejects when a credential plugin fails. */
  credentials(): Promise<Credentials>;
  /** Makes the next credentials fresh ones, after a 401. */
  refresh(): void;
}
