import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { createMetric, logMetrics, removeMetric, updateMetric } from "./metrics.ts";
import { CreateLogMetricBody, UpdateLogMetricBody } from "./types.ts";

/** Log metrics as files describe them. `onCounterMade` rings when there is something new to count. */
export function logMetricKind(onCounterMade: () => void): ConfigKind {
  return configKind({
    kind: "log-metrics",
    audit: "LOG_METRIC",
    table: "log_metrics",
    read: { role: "viewer", scope: "alerts:read" },
    write: { role: "member", scope: "alerts:write" },
    create: CreateLogMetricBody,
    update: UpdateLogMetricBody,
    defaults: { bucketSec: 60, enabled: true },
    list: recordsOf(logMetrics),
    ...verbsOf({ createAll: oneByOne(createMetric), update: updateMetric, remove: removeMetric }, (change) =>
      change.afterCommit(onCounterMade),
    ),
  });
}
