import type { JSX } from 'preact';
import { PAGE_RESOURCES, type PageState, type PolicyRow } from '../report/page/state.ts';
import { CopyableCommand } from './command.tsx';
import { clockTime, count, percent } from './format.ts';
import { aggregatedLoad, PHASE_NAMES, PHASES, type Phase, RESOURCE_NAMES, type Spread, spreadOf } from './model.ts';
import { useText } from './names.tsx';

interface OverviewProps {
  readonly state: PageState;
  readonly name: string;
  readonly policy: PolicyRow;
}

/** What the policy is up to, in figures, and how evenly the nodes are loaded before its plan, as planned, and now. */
export function Overview({ state, name, policy }: OverviewProps): JSX.Element {
  const text = useText();
  const condition = (wanted: string) => policy.conditions.find(({ type }) => type === wanted);
  const ready = condition('Ready');
  const trouble = policy.invalid ?? (ready?.status === 'False' ? `${ready.reason}: ${ready.message}` : undefined);
  const { plan } = policy;
  return (
    <section class="overview" aria-labelledby="overview-title">
      <div class="overview-head">
        <h2 id="overview-title">{name}</h2>
        <p class="tags">
          <span class="tag">{policy.strategy}</span>
          <span class="tag">{policy.suspended ? 'Suspended' : policy.mode}</span>
          {plan?.steering !== undefined && <span class="tag">steering {plan.steering}</span>}
          {policy.leader !== undefined && (
            <span class="tag" title="replica of the operator">
              led by {policy.leader}
            </span>
          )}
        </p>
        {trouble !== undefined && <p class="notice notice-bad">{text(trouble)}</p>}
        <p class="message">{text(plan?.message ?? condition('Converged')?.message ?? 'No run yet.')}</p>
        {plan !== undefined && plan.notes.length > 0 && (
          <ul class="notes">
            {plan.notes.map((note) => (
              <li key={note}>{text(note)}</li>
            ))}
          </ul>
        )}
        {plan?.phase === 'AwaitingApproval' && (
          <div class="notice approval">
            <p>This plan awaits approval. To approve it, run:</p>
            <CopyableCommand command={`evenkeel approve ${plan.name}`} />
          </div>
        )}
      </div>
      <dl class="figures">
        <Figure label="Nodes" value={Object.keys(state.nodes).length.toLocaleString('en')} />
        <Figure label="Pods" value={state.pods.toLocaleString('en')} />
        <Figure label="Trigger" value={percent(policy.trigger, 0)} hint="pods are moved when the spread reaches it" />
        {policy.hitRatio !== undefined && (
          <Figure label="Landed as planned" value={percent(policy.hitRatio, 0)} hint="of all replacements" />
        )}
        {policy.lastRun !== undefined && <Figure label="Last run" value={clockTime(policy.lastRun)} />}
        {policy.nextRun !== undefined && <Figure label="Next run" value={clockTime(policy.nextRun)} />}
      </dl>
      <Strips state={state} policy={policy} />
    </section>
  );
}

function Figure({ label, value, hint }: { label: string; value: string; hint?: string }): JSX.Element {
  return (
    <div class="figure" title={hint}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Strips({ state, policy }: Omit<OverviewProps, 'name'>): JSX.Element {
  const shifts = policy.plan?.shifts ?? {};
  const outside = new Set(policy.outside);
  const nodes = Object.entries(state.nodes).filter(([name, { status }]) => status === 'Ready' && !outside.has(name));
  const spreads = PHASES.map((phase) => ({
    phase,
    spread: spreadOf(nodes.map(([name, node]) => aggregatedLoad(phase, policy, node, shifts[name]))),
  }));
  const known = spreads.flatMap(({ spread }) => spread ?? []);
  const scale = {
    from: Math.floor(Math.min(...known.map(({ least }) => least)) * 10) / 10,
    to: Math.ceil(Math.max(...known.map(({ most }) => most)) * 10 + 0.001) / 10,
  };
  const balanced = PAGE_RESOURCES.filter((resource) => policy.weights[resource] !== undefined);
  const what = balanced.map((resource) => RESOURCE_NAMES[resource]).join(' and ');
  return (
    <div class="strips">
      <div class="strip strip-head">
        <h3>
          {what} load of {count(nodes.length, 'node')}
          {known.length > 0 && (
            <span class="quiet">
              {' '}
              scale {percent(scale.from, 0)} to {percent(scale.to, 0)}
            </span>
          )}
        </h3>
        <p class="strip-figures quiet">
          <span>spread</span> <span>deviation</span>
        </p>
      </div>
      {spreads.map(({ phase, spread }) => (
        <Strip key={phase} phase={phase} spread={spread} scale={scale} />
      ))}
      {policy.source === 'Requests' && state.basis === 'Usage' && (
        <p class="notice">This policy balances what pods request; the loads here are measured.</p>
      )}
      <p class="quiet">
        All three use the current load of each pod. Before has the pods of the newest plan on their old nodes, Planned
        on their new ones.
      </p>
    </div>
  );
}

interface StripProps {
  readonly phase: Phase;
  readonly spread: Spread | undefined;
  readonly scale: { readonly from: number; readonly to: number };
}

/** A tick for each node. */
function Strip({ phase, spread, scale }: StripProps): JSX.Element {
  if (spread === undefined) {
    return (
      <p class="strip">
        <span class="strip-name">{PHASE_NAMES[phase]}</span> <span class="quiet">not known</span>
      </p>
    );
  }
  const at = (load: number): string => ((1000 * (load - scale.from)) / (scale.to - scale.from)).toFixed(1);
  const ticks = spread.loads.map((load) => `M${at(load)} 3v18`).join('');
  const { least, most, mean, stddev } = spread;
  const said = `from ${percent(least)} to ${percent(most)}, standard deviation ${percent(stddev)}`;
  return (
    <div class={`strip strip-${phase}`}>
      <span class="strip-name">{PHASE_NAMES[phase]}</span>
      <svg viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label={`${PHASE_NAMES[phase]}: ${said}`}>
        <path class="strip-range" d={`M${at(least)} 12H${at(most)}`} vector-effect="non-scaling-stroke" />
        <path class="strip-ticks" d={ticks} vector-effect="non-scaling-stroke" />
        <path class="strip-mean" d={`M${at(mean)} 0v24`} vector-effect="non-scaling-stroke" />
      </svg>
      <span class="strip-figures">
        <b>{percent(most - least)}</b> <span class="quiet">{percent(stddev)}</span>
      </span>
    </div>
  );
}
