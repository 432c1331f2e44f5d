import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import { type Seconds, seconds } from '../model/units.ts';

/** Whether a node has the image of a pod; `undefined`: that is not known, or the node is not. */
export type ImageState = 'Present' | 'Absent' | undefined;

/**
 * alpha: how long a start takes, in seconds. As measured of starts with the image on the node, or without; where only the
 * other was measured that, where it is not known which the longer, and what the class expects until anything was measured.
 */
export function expectedStartup(
  ledger: Pick<ServiceLedger, 'startup'> | undefined,
  { expectedStartup: expected }: Pick<ServiceClass, 'expectedStartup'>,
  image?: ImageState,
): Seconds {
  const { hot, cold } = ledger?.startup ?? {};
  switch (image) {
    case 'Present':
      return hot ?? cold ?? expected;
    case 'Absent':
      return cold ?? hot ?? expected;
    case undefined:
      return hot === undefined || cold === undefined ? (hot ?? cold ?? expected) : seconds(Math.max(hot, cold));
    default:
      return image satisfies never;
  }
}
