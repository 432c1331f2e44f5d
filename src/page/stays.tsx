import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PageDetail, StaysDetail } from '../report/page/detail.ts';
import type { PlanRow } from '../report/page/state.ts';
import { OpenButton } from './controls.tsx';
import { count, words } from './format.ts';
import { useText } from './names.tsx';

interface StaysProps {
  readonly policy: string;
  readonly plan: PlanRow | undefined;
  readonly ask: (query: URLSearchParams) => Promise<PageDetail>;
  readonly onPod: (pod: string) => void;
}

type Answer = StaysDetail | { readonly kind: 'asking' } | { readonly kind: 'failed'; readonly why: string } | undefined;

/** Why pods that were considered stay: counts of the plan, and on demand the pods by what the planner says now. */
export function Stays({ policy, plan, ask, onPod }: StaysProps): JSX.Element {
  const [answer, setAnswer] = useState<Answer>(undefined);
  const inquire = async (): Promise<void> => {
    setAnswer({ kind: 'asking' });
    try {
      const detail = await ask(new URLSearchParams({ stays: '', policy }));
      setAnswer(detail.kind === 'stays' ? detail : undefined);
    } catch (error) {
      setAnswer({ kind: 'failed', why: String((error as Error).message) });
    }
  };
  return (
    <section class="panel" aria-labelledby="stays-title">
      <div class="panel-head">
        <h2 id="stays-title">Why pods stay</h2>
        <button type="button" class="button" disabled={answer?.kind === 'asking'} onClick={() => void inquire()}>
          {answer?.kind === 'asking' ? 'Asking…' : 'Ask the planner now'}
        </button>
      </div>
      {answer?.kind === 'failed' && <p class="notice notice-bad">{answer.why}</p>}
      {answer?.kind === 'stays' ? <Reasons answer={answer} onPod={onPod} /> : <Counts stays={plan?.stays ?? {}} />}
    </section>
  );
}

function Counts({ stays }: Pick<PlanRow, 'stays'>): JSX.Element {
  const entries = Object.entries(stays).sort(([, left], [, right]) => right - left);
  const most = Math.max(1, ...entries.map(([, number]) => number));
  return entries.length === 0 ? (
    <p class="empty">There is no plan that says why. Ask the planner.</p>
  ) : (
    <ul class="counts">
      {entries.map(([code, number]) => (
        <li key={code}>
          <Bar code={code} number={number} most={most} />
        </li>
      ))}
    </ul>
  );
}

function Bar({ code, number, most }: { code: string; number: number; most: number }): JSX.Element {
  return (
    <span class="count">
      <span class="count-name">{words(code)}</span>
      <span class="count-bar" aria-hidden="true">
        <span style={{ width: `${(100 * number) / most}%` }} />
      </span>
      <span class="count-number">{count(number, 'pod')}</span>
    </span>
  );
}

function Reasons({ answer, onPod }: { answer: StaysDetail } & Pick<StaysProps, 'onPod'>): JSX.Element {
  const text = useText();
  const most = Math.max(1, ...answer.reasons.map((reason) => reason.count));
  return (
    <>
      <p class="message">
        <b>{words(answer.outcome)}</b>: {text(answer.message)}
      </p>
      <ul class="counts">
        {answer.reasons.map(({ code, count: number, examples }) => (
          <li key={code}>
            <details>
              <summary>
                <Bar code={code} number={number} most={most} />
              </summary>
              <ul class="examples">
                {examples.map(({ pod, message }) => (
                  <li key={pod}>
                    <OpenButton onOpen={() => onPod(pod)}>{pod}</OpenButton> {text(message)}
                  </li>
                ))}
                {number > examples.length && (
                  <li class="quiet">and {(number - examples.length).toLocaleString('en')} more</li>
                )}
              </ul>
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}
