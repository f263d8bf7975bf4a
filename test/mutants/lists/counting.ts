import type { Mutant } from "../mutant.ts";

const SEALING = ["test/rules/sealing.proof.test.ts"];
const METRICS = ["test/domains/log-metrics/log-metrics.test.ts"];

/** Where an entry would be counted twice, not at all, or for others. */
export const COUNTING: readonly Mutant[] = [
  {
    name: "a counter that is made during a seal counts its entries too",
    file: "src/rules/streams/stream-store.ts",
    find: "coalesce(intent_to, sealed_id)::text AS mark",
    replace: "sealed_id::text AS mark",
    tests: SEALING,
  },
  {
    name: "a stream ends while its entries still come from the log",
    file: "src/rules/seal/sealer.ts",
    find: "if (stream.isFormer && !this.#options.isRecovered()) return false;",
    replace: "",
    tests: SEALING,
  },
  {
    name: "a seal is repeated that may have been done",
    file: "src/rules/seal/sealer.ts",
    find: "sealed === null || sealed < begun.to",
    replace: "true",
    tests: SEALING,
  },
  {
    name: "a seal that was repeated stays begun",
    file: "src/rules/seal/sealer.ts",
    find: "await this.#end(stream, begun, notes);",
    replace: "",
    tests: SEALING,
  },
  {
    name: "the past of a counter holds what seals count",
    file: "src/rules/past/past-counting.ts",
    find: '{ are: "outside", spans }',
    replace: '{ are: "outside", spans: [] }',
    tests: SEALING,
  },
  {
    name: "seals count the entries of all organisations for each",
    file: "src/rules/seal/count-entries.ts",
    find: 'made: { are: "in", spans: [span] },',
    replace: "",
    tests: SEALING,
  },
  {
    name: "a series leaves out what is not counted yet",
    file: "src/rules/counters/read-counts.ts",
    find: "for (const [bucket, n] of fresh) both",
    replace: "for (const [bucket, n] of []) both",
    tests: METRICS,
  },
  {
    name: "a series has the counts of another counter",
    file: "src/rules/seal/signal-store.ts",
    find: "AND kind = 'count' AND key = {key: UInt64}\n            AND bucket",
    replace: "AND kind = 'count'\n            AND bucket",
    tests: METRICS,
  },
  {
    name: "a metric with another filter keeps its counter",
    file: "src/domains/log-metrics/metrics.ts",
    find: "const stays = before !== null && metric.enabled && isSame(before, metric);",
    replace: "const stays = before !== null && metric.enabled;",
    tests: METRICS,
  },
];
