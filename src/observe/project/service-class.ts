import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import type { ServiceClassSpec } from '../../api/v1alpha1/service-class.ts';
import { formatProblem, validateResource } from '../../api/validate.ts';
import { parseDuration } from '../../model/duration.ts';
import { type JsonObject, MalformedField } from '../../model/json.ts';
import type { ServiceClass } from '../../model/service-level.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';

/** What plans read of a ServiceClass. */
export const SERVICE_CLASS_FIELDS: FieldMask = { metadata: METADATA_FIELDS, spec: true };

/** A ServiceClass and which PriorityClasses stand for it. */
export interface ProjectedServiceClass {
  readonly terms: ServiceClass;
  /** No workload was promised anything before. */
  readonly createdAt: EpochSeconds;
  readonly priorityClassNames: readonly string[];
  /** Whether it is the class of workloads that have no other. */
  readonly isDefault: boolean;
}

/** What a ServiceClass promises, defaults filled in. Throws MalformedField for whatever the API server would refuse. */
export function projectServiceClass(object: JsonObject): ProjectedServiceClass {
  const { name, createdAt } = readMetadata(object, 'ServiceClass', 'Cluster');
  const { metadata, spec: written } = object;
  const whole = { apiVersion: API_VERSION, kind: 'ServiceClass', metadata, spec: written };
  const { value, problems } = validateResource(whole);
  const [problem] = problems;
  if (problem !== undefined) {
    throw new MalformedField('ServiceClass', formatProblem(problem));
  }
  const { spec } = value as { readonly spec: ServiceClassSpec };
  return {
    terms: termsOf(name, spec),
    createdAt,
    priorityClassNames: spec.priorityClassNames,
    isDefault: spec.default,
  };
}

function termsOf(name: string, spec: ServiceClassSpec): ServiceClass {
  const slo = Number(spec.slo);
  return {
    name,
    slo,
    importance: spec.importance,
    safetyMargin: parseDuration(spec.safetyMargin),
    maxPreemptionOverhead:
      spec.maxPreemptionOverhead === undefined ? complement(slo) : Number(spec.maxPreemptionOverhead),
    minRunTime: parseDuration(spec.minRunTime),
    window: parseDuration(spec.window),
    mode: spec.mode,
    expectedStartup: parseDuration(spec.expectedStartup),
    penalties: spec.penalties
      .map(({ below, surcharge }) => ({ below: Number(below), surcharge: Number(surcharge) }))
      .sort((left, right) => right.below - left.below),
  };
}

/** 1 - slo without what binary fractions add: 0.1, not 0.09999999999999998. */
function complement(slo: number): number {
  return Math.round((1 - slo) * 1e6) / 1e6;
}
