import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

interface SignInProps {
  /** Why the last token was refused. */
  readonly why: string | undefined;
  readonly onToken: (token: string) => void;
}

/** Asks for a token: the page itself says nothing of the cluster, and what it asks for needs one. */
export function SignIn({ why, onToken }: SignInProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    onToken(field.current?.value ?? '');
  };
  return (
    <main class="sign-in">
      <form class="panel" onSubmit={submit}>
        <h2>Who are you?</h2>
        <p>
          Give a token of somebody who is bound to the ClusterRole <code>evenkeel-page-reader</code>:
        </p>
        <pre>kubectl create token ACCOUNT -n NAMESPACE</pre>
        <label>
          Token
          <input ref={field} type="password" autocomplete="off" spellcheck={false} required />
        </label>
        {why !== undefined && (
          <p class="notice notice-bad" role="alert">
            {why}
          </p>
        )}
        <button type="submit" class="button button-main">
          Show the cluster
        </button>
        <p class="quiet">It is kept in this page only, and forgotten when it is closed or reloaded.</p>
      </form>
    </main>
  );
}
