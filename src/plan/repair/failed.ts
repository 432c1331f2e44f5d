import type { PodInfo } from '../../model/pod.ts';
import { type EpochSeconds, elapsed } from '../../model/units.ts';
import type { FailedRepair } from '../options.ts';
import { reasonsOf } from './states.ts';

/** Why a pod in phase Failed is to be removed, as a clause; `undefined`: it may stay. */
export function failedClause(pod: PodInfo, repair: FailedRepair, now: EpochSeconds): string | undefined {
  const { reasons, exitCodes, includingInit, minAge, excludedOwnerKinds } = repair;
  const { owner, states, initStates, createdAt } = pod;
  if (elapsed(createdAt, now) < minAge || excludedOwnerKinds.has(owner?.kind ?? '')) {
    return undefined;
  }
  const given = reasonsOf(pod, includingInit);
  const ended = [...states.exitCodes, ...(includingInit ? initStates.exitCodes : [])];
  const reason = given.find((each) => reasons === undefined || reasons.has(each));
  const exitCode = ended.find((each) => exitCodes === undefined || exitCodes.has(each));
  if ((reasons !== undefined && reason === undefined) || (exitCodes !== undefined && exitCode === undefined)) {
    return undefined;
  }
  const parts = [
    ...(reason === undefined ? [] : [reason]),
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
  ];
  return `its phase is Failed${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}
