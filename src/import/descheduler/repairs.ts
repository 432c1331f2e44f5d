import { LIFETIME_STATES } from '../../api/v1alpha1/repair.ts';
import { formatDuration } from '../../model/duration.ts';
import { booleanAt, integerAt, isObject, type JsonObject, listAt, MalformedField, textsAt } from '../../model/json.ts';
import { seconds } from '../../model/units.ts';
import { changed, type ImportNote, lost } from '../note.ts';
import type { ConvertPlugin } from './part.ts';

/** Converts RemoveDuplicates. */
export const convertDuplicates: ConvertPlugin = ({ args, argsPath: path }) => {
  const kinds = textsAt(args, 'excludeOwnerKinds', path).filter((kind) => kind !== NEVER_MOVED);
  if (kinds.length > 0) {
    const advice = `pods are not chosen by the kind of their owner: duplicates that belong to ${kinds.join(' or ')} would be moved, too. Write repair.duplicates: true into a policy whose scope leaves them out`;
    return { notes: [lost(`${path}.excludeOwnerKinds`, advice)] };
  }
  return { repair: { duplicates: true }, notes: [] };
};

/** Its pods are moved by no policy, so that to leave them out says nothing new. */
const NEVER_MOVED = 'DaemonSet';

/** Converts RemovePodsViolatingInterPodAntiAffinity. */
export const convertAntiAffinity: ConvertPlugin = () => ({ repair: { podAntiAffinity: 'Required' }, notes: [] });

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Converts RemovePodsViolatingNodeAffinity. */
export const convertNodeAffinity: ConvertPlugin = ({ args, argsPath: path }) => {
  const types = textsAt(args, 'nodeAffinityType', path);
  const at = `${path}.nodeAffinityType`;
  if (types.length === 0 || types.some((type) => type !== REQUIRED && type !== PREFERRED)) {
    throw new MalformedField(at, `is ${types.join(', ') || 'missing'}: write ${REQUIRED}, ${PREFERRED} or both`);
  }
  return {
    repair: { nodeAffinity: types.includes(PREFERRED) ? 'Preferred' : 'Required' },
    notes: types.includes(REQUIRED)
      ? []
      : [changed(at, 'repairs required node affinity, too: nodeAffinity Preferred includes Required')],
  };
};

/** What a cordon adds to a node. */
const CORDON = 'node.kubernetes.io/unschedulable';

/** Converts RemovePodsViolatingNodeTaints. */
export const convertTaints: ConvertPlugin = ({ args, argsPath: path }) => {
  const included = textsAt(args, 'includedTaints', path);
  const excluded = textsAt(args, 'excludedTaints', path);
  if (included.length > 0 && excluded.length > 0) {
    throw new MalformedField(path, 'includedTaints and excludedTaints exclude each other: keep one of them');
  }
  const effect = booleanAt(args, 'includePreferNoSchedule', path) ? 'PreferNoSchedule' : 'NoSchedule';
  return {
    repair: {
      taints: {
        effect,
        ...(included.length === 0 ? {} : { includedTaints: [...new Set(included)] }),
        ...(excluded.length === 0 ? {} : { excludedTaints: [...new Set(excluded)] }),
      },
    },
    notes: cordon(included, excluded, path),
  };
};

function cordon(included: readonly string[], excluded: readonly string[], path: string): readonly ImportNote[] {
  return included.length > 0 || excluded.includes(CORDON)
    ? []
    : [
        changed(
          path === '' ? 'args' : path,
          `pods stay on nodes that are only cordoned: the descheduler counts the taint ${CORDON}, too. Use kubectl drain, or a policy with taints.includedTaints: [${CORDON}]`,
        ),
      ];
}

const HARD = 'DoNotSchedule';
const SOFT = 'ScheduleAnyway';

/** Converts RemovePodsViolatingTopologySpreadConstraint. */
export const convertTopologySpread: ConvertPlugin = ({ args, argsPath: path }) => {
  const constraints = textsAt(args, 'constraints', path);
  const unknown = constraints.find((constraint) => constraint !== HARD && constraint !== SOFT);
  if (unknown !== undefined) {
    throw new MalformedField(`${path}.constraints`, `has ${unknown}: write ${HARD}, ${SOFT} or both`);
  }
  const isSoft = constraints.includes(SOFT) || booleanAt(args, 'includeSoftConstraints', path);
  const isSoftAlone = constraints.includes(SOFT) && !constraints.includes(HARD);
  return {
    repair: { topologySpread: { constraints: isSoft ? 'All' : 'Hard' } },
    notes: [
      ...(isSoftAlone ? [changed(`${path}.constraints`, `repairs ${HARD} constraints, too: All includes them`)] : []),
      ...(args['topologyBalanceNodeFit'] === false
        ? [
            changed(
              `${path}.topologyBalanceNodeFit`,
              'a pod moves only to a node that all filters of the scheduler let it on',
            ),
          ]
        : []),
    ],
  };
};

/** Converts RemovePodsHavingTooManyRestarts. */
export const convertRestarts: ConvertPlugin = ({ args, argsPath: path }) => {
  const atLeast = integerAt(args, 'podRestartThreshold', path) ?? 0;
  if (atLeast < 1) {
    throw new MalformedField(`${path}.podRestartThreshold`, `is ${atLeast}: write how many restarts are too many`);
  }
  const states = textsAt(args, 'states', path);
  const unknown = states.find((state) => state !== 'Running' && state !== 'CrashLoopBackOff');
  if (unknown !== undefined) {
    throw new MalformedField(`${path}.states`, `has ${unknown}: write Running, CrashLoopBackOff or both`);
  }
  return {
    repair: { restarts: { atLeast, ...initContainers(args, path), ...(states.length === 0 ? {} : { states }) } },
    notes: [changed(path, 'the pod starts anew on another node; the descheduler leaves the node to the scheduler')],
  };
};

function initContainers(args: JsonObject, path: string): { readonly includingInit?: true } {
  return booleanAt(args, 'includingInitContainers', path) ? { includingInit: true } : {};
}

/** Shortest and longest age of spec.repair.maxLifetime, in seconds. */
const AGES = { least: 60, most: 360_000_000 } as const;

/** Converts PodLifeTime. */
export const convertLifetime: ConvertPlugin = ({ args, argsPath: path }) => {
  const narrowing = NARROWING.flatMap(([key, what]) => (isSaid(args[key]) ? [lost(`${path}.${key}`, what)] : []));
  if (narrowing.length > 0) {
    return { notes: narrowing };
  }
  const asked = textsAt(args, 'states', path);
  const states = asked.filter((state) => state !== SUCCEEDED);
  const unknown = states.find((state) => !(LIFETIME_STATES as readonly string[]).includes(state));
  if (unknown !== undefined) {
    throw new MalformedField(`${path}.states`, `has ${unknown}: write some of ${LIFETIME_STATES.join(', ')}`);
  }
  const ended = asked.includes(SUCCEEDED) ? [lost(`${path}.states`, ENDED_ADVICE)] : [];
  if (states.length === 0 && asked.length > 0) {
    return { notes: ended };
  }
  const span = integerAt(args, 'maxPodLifeTimeSeconds', path);
  if (span === undefined && asked.length === 0) {
    throw new MalformedField(`${path}.maxPodLifeTimeSeconds`, 'is missing: write how old pods may be, in seconds');
  }
  const age = Math.min(Math.max(span ?? 0, AGES.least), AGES.most);
  const at = `${path}.maxPodLifeTimeSeconds`;
  const ephemeral = `${path}.includingEphemeralContainers`;
  return {
    repair: {
      maxLifetime: {
        age: formatDuration(seconds(age)),
        ...(states.length === 0 ? {} : { states, ...initContainers(args, path) }),
      },
    },
    notes: [
      ...ended,
      ...(age === span ? [] : [changed(at, `is ${span ?? 'missing'}: age is ${formatDuration(seconds(age))}`)]),
      ...(booleanAt(args, 'includingEphemeralContainers', path)
        ? [lost(ephemeral, 'states of ephemeral containers are not looked at')]
        : []),
    ],
  };
};

/** Phase of pods that have done their work. */
const SUCCEEDED = 'Succeeded';
const ENDED_ADVICE =
  'pods that succeeded are left alone: write ttlSecondsAfterFinished into the Job, or --terminated-pod-gc-threshold for kube-controller-manager';

/** Without them more pods would be evicted than were asked for, so that the plugin is left out with them. */
const NARROWING = [
  [
    'conditions',
    'pods are not chosen by their conditions, and without these more would be evicted: PodLifeTime is left out. Write repair.maxLifetime by hand if age and states say enough',
  ],
  [
    'exitCodes',
    'running pods are not chosen by exit codes, and without these more would be evicted: PodLifeTime is left out. For failed pods write repair.failed.exitCodes',
  ],
  [
    'ownerKinds',
    'pods are not chosen by the kind of their owner, and without it more would be evicted: PodLifeTime is left out. Write repair.maxLifetime into a policy whose scope selects the pods',
  ],
] as const;

function isSaid(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

/** Seconds that RemoveFailedPods waits unless it is told otherwise. */
const USUAL_FAILED_AGE = 3600;

/** Converts RemoveFailedPods. */
export const convertFailed: ConvertPlugin = ({ args, argsPath: path }) => {
  const reasons = textsAt(args, 'reasons', path);
  const exitCodes = listAt(args, 'exitCodes', path);
  const excludedOwnerKinds = textsAt(args, 'excludeOwnerKinds', path);
  const age = integerAt(args, 'minPodLifetimeSeconds', path) ?? USUAL_FAILED_AGE;
  return {
    repair: {
      failed: {
        ...(reasons.length === 0 ? {} : { reasons }),
        ...(exitCodes.length === 0 ? {} : { exitCodes }),
        ...initContainers(args, path),
        minAge: formatDuration(seconds(age)),
        ...(excludedOwnerKinds.length === 0 ? {} : { excludedOwnerKinds }),
      },
    },
    notes: [],
  };
};
