import { Type } from "typebox";
import { requireAccess } from "../../http/access.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { readMetricNames } from "./read-names.ts";
import { type MetricDependencies, readMetricSeries } from "./read-series.ts";
import { MetricName, MetricSeries, MetricSeriesParameters, NamesParameters } from "./types.ts";

const TAG = "Metrics";
const access = { role: "viewer", scope: "metrics:read" } as const;
const errors = ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"] as const;

/** Numbers over time, wherever they come from. */
export function metricRoutes(deps: MetricDependencies) {
  return [
    route({
      method: "GET",
      path: "/api/v1/metrics/names",
      tag: TAG,
      summary: "List the metrics that there are series of",
      access,
      query: NamesParameters,
      responses: {
        200: {
          description: "What everybody has first, then log metrics, then others",
          schema: Type.Array(MetricName),
        },
      },
      errors,
      handler: async (context, { query }) => ({
        status: 200,
        body: await readMetricNames(deps, callerOf(context), query),
      }),
    }),
    route({
      method: "GET",
      path: "/api/v1/metrics/series",
      tag: TAG,
      summary: "Read a metric over time",
      access,
      query: MetricSeriesParameters,
      responses: { 200: { description: "Bucket by bucket", schema: MetricSeries } },
      errors,
      handler: async (context, { query }) => ({
        status: 200,
        body: await readMetricSeries(deps, callerOf(context), query, ({ kind }) => {
          // As the table of checks needs it.
          if (kind === "response_ms" || kind === "up")
            requireAccess({ role: "viewer", scope: "monitors:read" }, context.principal);
        }),
      }),
    }),
  ];
}
