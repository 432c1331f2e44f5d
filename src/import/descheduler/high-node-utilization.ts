import { integerAt, MalformedField, textsAt } from '../../model/json.ts';
import { changed, lost } from '../note.ts';
import type { ConvertPlugin } from './part.ts';
import { percentagesAt } from './thresholds.ts';

/** Converts HighNodeUtilization. */
export const convertHighNodeUtilization: ConvertPlugin = ({ args, argsPath: path }) => {
  const thresholds = percentagesAt(args, 'thresholds', path);
  if (thresholds.length === 0) {
    throw new MalformedField(`${path}.thresholds`, 'is missing: write percentages of resources, such as {cpu: 20}');
  }
  const resources = thresholds.map(([name, percentage]) => ({
    name,
    below: String(Number((percentage / 100).toFixed(6))),
  }));
  return {
    strategy: { strategy: { type: 'Pack', pack: { resources, headroom: '0', minNodeAge: '0s' } } },
    packs: true,
    notes: [
      changed(
        `${path}.thresholds`,
        'a node is emptied whole or not at all, and each pod goes to a node that is in use: the scheduler needs no MostAllocated scoring where replacements are steered',
      ),
      ...((integerAt(args, 'numberOfNodes', path) ?? 0) === 0
        ? []
        : [lost(`${path}.numberOfNodes`, 'the number of nodes that are little used does not matter')]),
      ...(textsAt(args, 'evictionModes', path).length === 0
        ? []
        : [
            changed(
              `${path}.evictionModes`,
              'pods that request none of these resources are moved, too: a node is emptied of all its pods, or of none',
            ),
          ]),
    ],
  };
};
