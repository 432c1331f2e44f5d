import { MalformedField } from '../../model/json.ts';
import type { Conversion, ImportNote } from '../note.ts';
import { type DeschedulerDocument, readProfiles, versioned } from './document.ts';
import { convertLimits } from './limits.ts';
import { formPolicies } from './policies.ts';
import { convertProfile } from './profile.ts';
import { readStrategies } from './strategies.ts';
import type { WrappedPolicy } from './wrapped.ts';

/**
 * RebalancePolicies that do what a DeschedulerPolicy (descheduler/v1alpha1 or v1alpha2, of the descheduler up to 0.36) asked for,
 * in mode DryRun, none of which has pods of another where that can be said by selectors; and everything that they do not do, or do
 * otherwise. Throws MalformedField, with the path and what to write, for what the descheduler would refuse as well.
 */
export function convertDescheduler({ policy, timing }: WrappedPolicy): Conversion {
  const { policy: object, isOld } = versioned(policy);
  const document = isOld ? readStrategies(object) : readProfiles(object);
  const { resources, notes } = withTheirPaths(document, () => convertAll(document, timing));
  return { resources, notes: distinct(notes.map((note) => ({ ...note, path: document.theirPath(note.path) }))) };
}

/** A mistake stands where the user has written it. */
function withTheirPaths({ theirPath }: DeschedulerDocument, work: () => Conversion): Conversion {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedField) {
      throw new MalformedField(theirPath(error.field), error.wrong);
    }
    throw error;
  }
}

function convertAll(document: DeschedulerDocument, timing: WrappedPolicy['timing']): Conversion {
  const limits = convertLimits(document.settings);
  const profiles = document.profiles.map((profile) => convertProfile(profile, limits));
  const { resources, notes } = formPolicies(profiles, limits, timing);
  return {
    resources,
    notes: [...document.notes, ...limits.notes, ...profiles.flatMap((profile) => profile.notes), ...notes],
  };
}

/** What is true of several policies is said once. */
function distinct(notes: readonly ImportNote[]): readonly ImportNote[] {
  return [...new Map(notes.map((note) => [JSON.stringify(note), note])).values()];
}
