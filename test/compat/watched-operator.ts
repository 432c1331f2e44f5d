import type { ControlPlane } from '../control-plane/start.ts';
import { type ProxiedAnswer, startFaultProxy } from '../support/faults/proxy.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import type { startWithWebhook } from '../support/webhook.ts';

/** An operator with exactly the rights of its ServiceAccount, of which everything is known that the API server answered. */
export interface WatchedOperator extends OperatorProcess {
  /** Log lines of level warn or above, and warnings of the API server, since the last call. */
  newWarnings(): readonly string[];
  /** Requests that the API server forbade since the start. */
  forbidden(): readonly string[];
  /** Ends it with SIGTERM. */
  stop(): Promise<void>;
}

/** Starts the operator, or one that serves the webhook, behind a proxy that listens. */
export async function startWatchedOperator(
  cp: ControlPlane,
  start: typeof startWithWebhook = startOperator,
): Promise<WatchedOperator> {
  const answers: ProxiedAnswer[] = [];
  const upstream = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  const proxy = await startFaultProxy({ upstream, seed: 1, answered: (answer) => answers.push(answer) });
  const operator = await start(cp, { kubeconfig: proxy.kubeconfig });
  const told = new Set<string>();
  return {
    ...operator,
    newWarnings() {
      const all = [...warningLines(operator.log()), ...answers.flatMap(warningOf)];
      const fresh = [...new Set(all)].filter((line) => !told.has(line));
      for (const line of fresh) {
        told.add(line);
      }
      return fresh;
    },
    forbidden: () => [...new Set(answers.filter(({ code }) => code === 403).map(requestOf))],
    async stop() {
      await operator.end('SIGTERM');
      await proxy.stop();
    },
  };
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly problem?: string;
  readonly err?: { readonly message: string };
}

/** Messages of level warn or above, with their errors. */
function warningLines(log: string): readonly string[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map(parseLine)
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map(({ msg, err, problem }) => [msg, err?.message ?? problem ?? []].flat().join(': '));
}

/** What is no log line, such as a stack trace, is worse than a warning. */
function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { level: 'error', msg: line };
  }
}

function warningOf(answer: ProxiedAnswer): readonly string[] {
  return answer.warning === '' ? [] : [`${requestOf(answer)}: ${answer.warning}`];
}

function requestOf({ method, url }: ProxiedAnswer): string {
  return `${method} ${url.split('?')[0]}`;
}
