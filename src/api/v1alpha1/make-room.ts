import Type from 'typebox';
import { text } from './schema.ts';

/** `makesRoomFor` of a move: optional, namespace/name of a pod. */
export const makesRoomForOfMove = Type.Optional(
  text(317, {
    description: 'Pod without a node, as namespace/name, for which the move makes room. Absent for other moves.',
  }),
);
