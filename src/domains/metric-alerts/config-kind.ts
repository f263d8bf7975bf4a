import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import {
  createMetricAlert,
  type MetricAlertDependencies,
  metricAlerts,
  removeMetricAlert,
  updateMetricAlert,
} from "./alerts.ts";
import {
  CreateMetricAlertBody as CreateBody,
  type CreateMetricAlertBody,
  UpdateMetricAlertBody,
} from "./types.ts";

interface MetricAlertKindDependencies extends MetricAlertDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
}

/** Metric alerts as files describe them: any other field than its threshold makes another one. */
export function metricAlertKind(deps: MetricAlertKindDependencies): ConfigKind {
  return configKind({
    kind: "metric-alerts",
    audit: "METRIC_ALERT",
    table: "metric_alerts",
    read: { role: "viewer", scope: "alerts:read" },
    write: { role: "member", scope: "alerts:write" },
    create: CreateBody,
    update: UpdateMetricAlertBody,
    defaults: { aggregation: "avg", comparator: "gt", windowSec: 300, severity: "medium", enabled: true },
    references: [{ at: ["escalationPolicyId"], to: "escalation-policies" }],
    list: recordsOf(metricAlerts),
    ...verbsOf(
      {
        createAll: oneByOne((change, body: CreateMetricAlertBody) => createMetricAlert(deps, change, body)),
        update: updateMetricAlert,
        remove: removeMetricAlert,
      },
      (change) => change.afterCommit(deps.onCounterMade),
    ),
  });
}
