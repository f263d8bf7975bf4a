import type { TransactionSql } from "postgres";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { liveStates } from "../../rules/live/live-states.ts";
import { runRoutes } from "../../rules/runs/run-routes.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import {
  createMetricAlert,
  listMetricAlerts,
  type MetricAlertDependencies,
  readMetricAlert,
  removeMetricAlert,
  updateMetricAlert,
} from "./alerts.ts";
import { type PreviewDependencies, previewMetricAlert, previewTerms } from "./preview.ts";
import {
  CreateMetricAlertBody,
  MetricAlert,
  MetricPreview,
  MetricPreviewBody,
  type StoredMetricAlert,
  UpdateMetricAlertBody,
} from "./types.ts";

interface MetricAlertRouteDependencies extends MetricAlertDependencies, PreviewDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
}

const PATH = "/api/v1/metric-alerts";
const TAG = "Metric alerts";
const read = { role: "viewer", scope: "alerts:read" } as const;

/** Rules of an organisation about the values of metrics. */
export function metricAlertRoutes(deps: MetricAlertRouteDependencies) {
  const { sql, onCounterMade } = deps;
  const shownAll = (organizationId: number, stored: readonly StoredMetricAlert[]): Promise<MetricAlert[]> =>
    askPostgres(() => inOrganization(sql, organizationId, (tx) => shown(tx, organizationId, stored)));
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a metric alert",
    many: "metric alerts",
    by: BY_ID,
    record: MetricAlert,
    read,
    write: { role: "member", scope: "alerts:write" },
    audit: "METRIC_ALERT",
  });
  return [
    routes.list("Oldest first", async ({ organizationId }) =>
      shownAll(organizationId, await listMetricAlerts(sql, organizationId)),
    ),
    routes.create(CreateMetricAlertBody, MetricAlert, async (change, body) => {
      change.afterCommit(onCounterMade);
      const alert = await createMetricAlert(deps, change, body);
      return only(await shown(change.tx, change.organizationId, [alert]));
    }),
    routes.read(MetricAlert, async ({ organizationId }, id) =>
      only(await shownAll(organizationId, [await readMetricAlert(sql, organizationId, id)])),
    ),
    routes.update(UpdateMetricAlertBody, async (change, id, body) => {
      change.afterCommit(onCounterMade);
      const alert = await updateMetricAlert(change, id, body);
      return only(await shown(change.tx, change.organizationId, [alert]));
    }),
    routes.remove(removeMetricAlert),
    ...runRoutes({
      ...{ sql, path: PATH, tag: TAG, one: "a metric alert", kind: "metric", audit: "METRIC_ALERT" },
      ...{ read, write: { role: "member", scope: "alerts:write" }, now: deps.now },
      requireRule: (organizationId, id) => readMetricAlert(sql, organizationId, id),
      find: async (caller, id, range) =>
        previewTerms(deps, caller, await readMetricAlert(sql, caller.organizationId, id), range),
    }),
    route({
      method: "POST",
      path: `${PATH}/preview`,
      tag: TAG,
      summary: "See what a metric alert would have found, before it is made",
      effect: "read",
      access: read,
      body: { kind: "json", schema: MetricPreviewBody },
      responses: { 200: { description: "What it would have told", schema: MetricPreview } },
      errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { body }) => ({
        status: 200,
        body: await previewMetricAlert(deps, callerOf(context), body),
      }),
    }),
  ];
}

async function shown(
  tx: TransactionSql,
  organizationId: number,
  alerts: readonly StoredMetricAlert[],
): Promise<MetricAlert[]> {
  const ids = alerts.map(({ id }) => id);
  const stateOf = await liveStates(tx, organizationId, "metric", ids);
  return alerts.map((alert) => ({ ...alert, ...stateOf(alert.id) }));
}

function only([alert]: readonly MetricAlert[]): MetricAlert {
  if (alert === undefined) throw new Error("a rule was lost");
  return alert;
}
