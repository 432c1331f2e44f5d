import { type Controllers, scale } from './controllers.ts';
import type { Incident } from './scenario.ts';
import type { World } from './world.ts';

/** Lets an incident happen now. */
export function befall(incident: Incident, controllers: Controllers): void {
  const { world, kubelets } = controllers;
  switch (incident.kind) {
    case 'NodeFails':
      kubelets.fail(incident.node);
      break;
    case 'NodeReturns':
      kubelets.restore(incident.node);
      break;
    case 'NodeJoins':
      world.addNode(incident.node);
      break;
    case 'Cordon':
    case 'Uncordon':
      cordon(world, incident.node, incident.kind === 'Cordon');
      break;
    case 'Scale': {
      const { workload: name, replicas } = incident;
      const workload = [...world.workloads.values()].find(({ info }) => info.name === name);
      if (workload !== undefined) {
        scale(controllers, workload, replicas);
      }
      break;
    }
    default:
      incident satisfies never;
  }
}

function cordon(world: World, name: string, unschedulable: boolean): void {
  const node = world.nodes.get(name);
  if (node !== undefined) {
    world.changeNode(node, { ...node.info, unschedulable });
  }
}
