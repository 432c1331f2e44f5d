import type { JSX } from 'preact';
import type { ClassRow, PageState, ServiceRow } from '../report/page/state.ts';
import { Table, useMore } from './controls.tsx';
import { count, duration, finePercent } from './format.ts';

const STANDINGS: Readonly<Record<ServiceRow['standing'], readonly [tone: string, words: string, rank: number]>> = {
  Missed: ['bad', 'missed', 0],
  InDanger: ['busy', 'in danger', 1],
  Kept: ['good', 'kept', 2],
};

const HEADS = [
  'Workload',
  'Class',
  'SLO',
  'Availability in its window',
  ['Time to violate', 'number'],
  ['Running', 'number'],
  ['Preempted', 'number'],
] as const;

const CLASS_HEADS = [
  'Class',
  ['SLO', 'number'],
  ['Workloads', 'number'],
  ['Missed', 'number'],
  ['Least availability', 'number'],
  ['Gini', 'number'],
  ['Penalty, core-seconds', 'number'],
  ['Pods that wait', 'number'],
  ['Longest wait', 'number'],
] as const;

/**
 * Every class with what its workloads got and are owed; then every workload with a class: what it was promised, what it got, and
 * how long until its SLO is violated.
 */
export function Services({ services, classes }: Pick<PageState, 'services' | 'classes'>): JSX.Element {
  const rows = Object.entries(services).sort(
    ([leftKey, left], [rightKey, right]) => byUrgency(left, right) || compare(leftKey, rightKey),
  );
  const [shown, more] = useMore(rows, 25);
  return (
    <section class="panel" aria-labelledby="services-title">
      <div class="panel-head">
        <h2 id="services-title">Service levels</h2>
        <p class="quiet">{summary(rows.map(([, row]) => row))}</p>
      </div>
      <Classes classes={classes} />
      <Table label="Service levels by workload" heads={HEADS}>
        {shown.map(([key, row]) => (
          <Row key={key} name={key} row={row} />
        ))}
      </Table>
      {more}
    </section>
  );
}

function byUrgency(left: ServiceRow, right: ServiceRow): number {
  const [forever, never] = [left.timeToViolate ?? Number.MAX_VALUE, right.timeToViolate ?? Number.MAX_VALUE];
  return (
    STANDINGS[left.standing][2] - STANDINGS[right.standing][2] || left.importance - right.importance || forever - never
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : 1;
}

function summary(rows: readonly ServiceRow[]): string {
  const parts = (['Missed', 'InDanger', 'Kept'] as const).map((standing) => {
    const number = rows.filter((row) => row.standing === standing).length;
    return number === 0 ? [] : [`${number} ${STANDINGS[standing][1]}`];
  });
  return `${count(rows.length, 'workload')}: ${parts.flat().join(', ')}`;
}

/** Nothing where no pod of a class is there any more. */
function Classes({ classes }: Pick<PageState, 'classes'>): JSX.Element | null {
  const rows = Object.entries(classes).sort(
    ([leftKey, left], [rightKey, right]) => left.importance - right.importance || compare(leftKey, rightKey),
  );
  return rows.length === 0 ? null : (
    <Table label="Service levels by class" heads={CLASS_HEADS}>
      {rows.map(([name, row]) => (
        <ClassFigures key={name} name={name} row={row} />
      ))}
    </Table>
  );
}

function ClassFigures({ name, row }: { name: string; row: ClassRow }): JSX.Element {
  const { importance, slo, workloads, missed, least, gini, penalty, waiting, longestWait } = row;
  const figures = [
    ['SLO', finePercent(slo)],
    ['workloads', workloads],
    ['missed', missed],
    ['least availability', least === undefined ? '–' : finePercent(least)],
    ['Gini', gini.toFixed(3)],
    ['penalty', penalty],
    ['pods that wait', waiting],
    ['longest wait', waiting === 0 ? '–' : duration(longestWait)],
  ] as const;
  return (
    <tr>
      <th scope="row">
        {name}
        <span class="quiet line">importance {importance}</span>
      </th>
      {figures.map(([label, value]) => (
        <td key={label} class="number" data-label={label}>
          {value}
        </td>
      ))}
    </tr>
  );
}

function Row({ name, row }: { name: string; row: ServiceRow }): JSX.Element {
  const [namespace = '', kind = '', ...rest] = name.split('/');
  const [tone, words] = STANDINGS[row.standing];
  return (
    <tr>
      <th scope="row">
        {namespace}/{rest.join('/')}
        <span class="quiet line">{kind}</span>
      </th>
      <td>
        {row.className}
        <span class="quiet line">importance {row.importance}</span>
      </td>
      <td>
        <span class={`phase phase-${tone}`}>{words}</span>
      </td>
      <td class="slo-cell">
        <SloBar row={row} />
      </td>
      <td class="number" data-label="time to violate">
        {timeLeft(row)}
      </td>
      <td class="number" data-label="running">
        {row.running} of {row.running + row.waiting}
      </td>
      <td class="number" data-label="preempted">
        {row.preemptions}
      </td>
    </tr>
  );
}

/** Availability above the objective is slack; below it is the deficit. The scale begins where the worst of both has room. */
function SloBar({ row: { slo, availability } }: { row: ServiceRow }): JSX.Element {
  if (availability === undefined) {
    return <span class="quiet">nothing observed yet</span>;
  }
  const start = Math.max(0, Math.min(slo, availability) - Math.max(0.005, 1.5 * (1 - Math.min(slo, availability))));
  const at = (value: number): string => `${(((value - start) / (1 - start)) * 100).toFixed(2)}%`;
  return (
    <span class="slo" title={`scale from ${finePercent(start)} to 100 %`}>
      <span class={availability < slo ? 'slo-bar slo-short' : 'slo-bar'} aria-hidden="true">
        <span class="slo-got" style={{ width: at(availability) }} />
        <span class="slo-mark" style={{ left: at(slo) }} />
      </span>
      <span class="slo-figures">
        {finePercent(availability)} <span class="quiet">of {finePercent(slo)}</span>
      </span>
    </span>
  );
}

function timeLeft({ timeToViolate }: ServiceRow): JSX.Element {
  if (timeToViolate === undefined) {
    return <span class="quiet">never</span>;
  }
  return timeToViolate < 0 ? (
    <span class="warn">{duration(timeToViolate)} short</span>
  ) : (
    <span>{duration(timeToViolate)}</span>
  );
}
