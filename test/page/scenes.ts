import { cloudHarbour, type Harbour, trafficHarbour } from './harbour.ts';

/** A page as somebody meets it: what it shows, on which screen, and how long after its snapshot. */
export interface Scene {
  readonly name: string;
  readonly harbour: () => Harbour;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  /** Seconds from the snapshot to the time on the clock. */
  readonly age: number;
}

const DESK = { width: 1280, height: 900, age: 0, colorScheme: 'light' } as const;
const PHONE = { ...DESK, width: 360, height: 740 } as const;
const TEN_MONTHS = 306 * 86_400;

/** Clusters with names as clouds give them, in each state that the page tells apart. */
export const SCENES: readonly Scene[] = [
  { ...DESK, name: 'eight-nodes', harbour: () => cloudHarbour(8, 'Executing') },
  { ...DESK, name: 'three-zones', harbour: () => cloudHarbour(300, 'Executing') },
  { ...DESK, name: 'three-zones-dark', harbour: () => cloudHarbour(300, 'Executing'), colorScheme: 'dark' },
  { ...DESK, name: 'eight-nodes-dark', harbour: () => cloudHarbour(8, 'Executing'), colorScheme: 'dark' },
  { ...PHONE, name: 'phone', harbour: () => cloudHarbour(8, 'AwaitingApproval') },
  { ...PHONE, name: 'phone-three-zones', harbour: () => cloudHarbour(300, 'Executing'), colorScheme: 'dark' },
  { ...DESK, name: 'awaiting-approval', harbour: () => cloudHarbour(8, 'AwaitingApproval') },
  { ...DESK, name: 'traffic', harbour: () => trafficHarbour(24) },
  { ...PHONE, name: 'phone-traffic', harbour: () => trafficHarbour(24), colorScheme: 'dark' },
  { ...DESK, name: 'old-file', harbour: () => cloudHarbour(8, 'Files'), age: TEN_MONTHS },
];
