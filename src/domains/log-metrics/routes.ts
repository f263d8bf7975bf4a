import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { createMetric, listMetrics, readMetric, removeMetric, updateMetric } from "./metrics.ts";
import { readSeries, type SeriesDependencies } from "./series.ts";
import { CreateLogMetricBody, LogMetric, Series, SeriesParameters, UpdateLogMetricBody } from "./types.ts";

interface LogMetricDependencies extends SeriesDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
}

const PATH = "/api/v1/log-metrics";
const TAG = "Log metrics";
const read = { role: "viewer", scope: "alerts:read" } as const;

/** Numbers that an organisation has made of its entries: how many there were of a kind, minute by minute. */
export function logMetricRoutes(deps: LogMetricDependencies) {
  const { sql, onCounterMade } = deps;
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a log metric",
    many: "log metrics",
    by: BY_ID,
    record: LogMetric,
    read,
    write: { role: "member", scope: "alerts:write" },
    audit: "LOG_METRIC",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => listMetrics(sql, organizationId)),
    routes.create(CreateLogMetricBody, LogMetric, (change, body) => {
      change.afterCommit(onCounterMade);
      return createMetric(change, body);
    }),
    routes.read(LogMetric, ({ organizationId }, id) => readMetric(sql, organizationId, id)),
    routes.update(UpdateLogMetricBody, (change, id, body) => {
      change.afterCommit(onCounterMade);
      return updateMetric(change, id, body);
    }),
    routes.remove(removeMetric),
    seriesRoute(deps),
  ];
}

function seriesRoute(deps: LogMetricDependencies) {
  return route({
    method: "GET",
    path: `${PATH}/:id/series`,
    tag: TAG,
    summary: "Read what a log metric has counted, bucket by bucket",
    access: read,
    params: IdParams,
    query: SeriesParameters,
    responses: { 200: { description: "The counts: the same as of a search for it", schema: Series } },
    errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
    handler: async (context, { params, query }) => {
      const metric = await readMetric(deps.sql, context.principal.organizationId, Number(params.id));
      return { status: 200, body: await readSeries(deps, callerOf(context), metric, query) };
    },
  });
}
