import type { NodeSelectorTerm } from './node.ts';
import type { Labels, Requirement, Selector } from './selector.ts';
import type { Bytes } from './units.ts';

/** What a claim asks of a volume. */
export interface ClaimRequest {
  /** `undefined`: the cluster has no default class, or `""` was asked for: only volumes without a class. */
  readonly storageClass: string | undefined;
  readonly accessModes: readonly string[];
  readonly size: Bytes;
  /** `undefined`: any volume. */
  readonly selector: Selector | undefined;
  readonly volumeMode: string;
}

/** A PersistentVolumeClaim. */
export interface ClaimInfo extends ClaimRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `spec.volumeName`. */
  readonly volumeName: string | undefined;
  /**
   * The binding is complete: a volume is named and annotation `pv.kubernetes.io/bind-completed` is there. One written by
   * hand without annotations is bound when it names a volume.
   */
  readonly bound: boolean;
  readonly terminating: boolean;
  /** Phase Lost: its volume is gone. */
  readonly lost: boolean;
}

/** A PersistentVolume. */
export interface VolumeInfo extends Omit<ClaimRequest, 'selector'> {
  readonly name: string;
  /** Zone and region labels keep its pods in them (VolumeZone). */
  readonly labels: Labels;
  /** Claim that it is bound to or reserved for. */
  readonly claim: { readonly namespace: string; readonly name: string; readonly uid: string | undefined } | undefined;
  /** A claim without a VolumeAttributesClass may take it: phase Available, not terminating, without such a class itself. */
  readonly available: boolean;
  /** `undefined`: every node. Terms are ORed. */
  readonly nodeAffinity: readonly NodeSelectorTerm[] | undefined;
  /** Driver and handle of a volume that a CSI driver serves, whose number per node may be limited. */
  readonly csi: { readonly driver: string; readonly handle: string } | undefined;
}

/** A StorageClass. */
export interface StorageClassInfo {
  readonly name: string;
  /** The CSI driver that stands for it where it is one of earlier versions (`kubernetes.io/aws-ebs`). */
  readonly provisioner: string;
  /** volumeBindingMode WaitForFirstConsumer. */
  readonly waitForFirstConsumer: boolean;
  /** Terms are ORed, the requirements of one are ANDed; empty: anywhere. */
  readonly allowedTopologies: readonly (readonly Requirement[])[];
  /** Its CSIDriver publishes storage capacity, which the scheduler checks and the planner does not. */
  readonly tracksCapacity: boolean;
}

/** In place of a limit: the driver must be installed on the nodes of its pods, and is not on this one. */
export const DRIVER_MISSING = -1;

/** Everything about volumes that decides where pods fit. */
export interface StorageInfo {
  /** By `namespace/name`. */
  readonly claims: ReadonlyMap<string, ClaimInfo>;
  /** By name. */
  readonly volumes: ReadonlyMap<string, VolumeInfo>;
  /** By name. */
  readonly classes: ReadonlyMap<string, StorageClassInfo>;
  /** Volumes that a node can attach, by node name and driver (CSINode): absent without a limit, or DRIVER_MISSING. */
  readonly attachLimits: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** A cluster without volumes. */
export const NO_STORAGE: StorageInfo = {
  claims: new Map(),
  volumes: new Map(),
  classes: new Map(),
  attachLimits: new Map(),
};
