/** What a --fail-on expression can speak of. The bound of a share may be written as 0.2 or as 20%. */
export const GATE_FIGURES = [
  { name: 'imbalance', meaning: 'highest minus lowest load of a node, before', isShare: true },
  { name: 'planned', meaning: 'the same as planned', isShare: true },
  { name: 'moves', meaning: 'moves of the plan', isShare: false },
  { name: 'rejections', meaning: 'pods that were considered and stay', isShare: false },
  { name: 'coverage', meaning: 'share of the Ready nodes with a valid sample', isShare: true },
  { name: 'cost', meaning: 'pod-seconds of service that the moves are expected to cost', isShare: false },
  { name: 'slo-missed', meaning: 'workloads below the SLO of their ServiceClass', isShare: false },
] as const;
