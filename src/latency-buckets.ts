/** Seconds; from an answer out of memory to a query at its time limit. */
export const LATENCY_BUCKETS_SEC = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
