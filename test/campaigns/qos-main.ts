/**
 * `npm run campaign:qos [-- --minutes N --seed S --only CONTENDER]`: the published experiment at a fifth of its size on a real
 * control plane, by the stock scheduler's priorities, the published policy, and ours. Progress goes to stderr, a table to
 * stdout, and the exit code is 1 when a target of the issue is missed.
 */
import { parseArgs } from 'node:util';
import { printTable } from '../support/print-table.ts';
import { CONTENDERS, type QosReport, runQos } from './qos.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const reports: QosReport[] = [];
for (const contender of CONTENDERS.filter((each) => values.only === undefined || each === values.only)) {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  reports.push(await runQos({ contender, minutes: Number(values.minutes), seed: Number(values.seed), log }));
}
const share = (value: number): string => value.toFixed(4);
printTable(
  ['', 'A', 'B', 'C', 'least A', 'least B', 'least C', 'Gini of C', 'longest vacancy', 'preemptions', 'ledger error'],
  reports.map(({ contender, classes: { A, B, C }, giniOfC, longestVacancy, preemptions, ledgerError }) => [
    contender,
    ...[A, B, C].map(({ mean }) => share(mean)),
    ...[A, B, C].map(({ least }) => share(least)),
    share(giniOfC),
    `${longestVacancy.toFixed(1)} s`,
    String(preemptions),
    ledgerError === undefined ? '-' : share(ledgerError),
  ]),
);
const missed = reports.flatMap(missedTargets);
for (const line of missed) {
  console.log(line);
}
process.exitCode = missed.length === 0 ? 0 : 1;

function missedTargets({ contender, classes, ledgerError = 0, preemptions }: QosReport): readonly string[] {
  const published = reports.find((each) => each.contender === 'Published')?.preemptions;
  const targets: readonly (readonly [boolean, string])[] = [
    [ledgerError <= 0.005, `a ledger is off by ${share(ledgerError)}`],
    [contender !== 'Priority' || classes.C.least < 0.05, 'all of C were served: there was no contention'],
    [contender !== 'Evenkeel' || classes.A.mean >= 0.99, 'A is below .99'],
    [contender !== 'Evenkeel' || classes.B.mean >= 0.88, 'B is below .88'],
    [contender !== 'Evenkeel' || classes.C.mean >= 0.45, 'C is below .45'],
    [
      contender !== 'Evenkeel' || published === undefined || preemptions <= published / 5,
      `${preemptions} preemptions are more than a fifth of ${published}`,
    ],
  ];
  return targets.filter(([isMet]) => !isMet).map(([, text]) => `${contender}: ${text}`);
}
