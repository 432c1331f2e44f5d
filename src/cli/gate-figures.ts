/** What a --fail-on expression can speak of. */
export const GATE_FIGURES = [
  { name: 'imbalance', meaning: 'highest minus lowest load of a node, before' },
  { name: 'planned', meaning: 'the same as planned' },
  { name: 'moves', meaning: 'moves of the plan' },
  { name: 'rejections', meaning: 'pods that were considered and stay' },
  { name: 'coverage', meaning: 'share of the Ready nodes with a valid sample' },
  { name: 'cost', meaning: 'pod-seconds of service that the moves are expected to cost' },
  { name: 'slo-missed', meaning: 'workloads below the SLO of their ServiceClass' },
] as const;
