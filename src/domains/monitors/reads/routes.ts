import { Type } from "typebox";
import { route } from "../../../http/define-route.ts";
import { callerOf } from "../../../http/query-caller.ts";
import { IdParams } from "../../../http/record-schemas.ts";
import { type MonitorService, noSuchMonitor } from "../service.ts";
import { listChecks } from "./list-checks.ts";
import { readStats, readTimeline, type StatsDependencies } from "./read-stats.ts";
import {
  BatchParameters,
  CheckList,
  CheckListParameters,
  MonitorStats,
  SpanParameters,
  Timeline,
  TimelineParameters,
} from "./types.ts";

const PATH = "/api/v1/monitors";
const common = {
  method: "GET",
  tag: "Monitors",
  access: { role: "viewer", scope: "monitors:read" },
} as const;

interface ReadDependencies extends StatsDependencies {
  readonly service: MonitorService;
  readonly cursorKey: Uint8Array;
}

/** What monitors found. */
export function monitorReadRoutes(deps: ReadDependencies) {
  return [
    route({
      ...common,
      path: `${PATH}/:id/checks`,
      summary: "List the checks of a monitor",
      params: IdParams,
      query: CheckListParameters,
      responses: { 200: { description: "Newest first", schema: CheckList } },
      errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { params, query }) => {
        const id = Number(params.id);
        await deps.service.read(context.principal.organizationId, id);
        return { status: 200, body: await listChecks(deps, callerOf(context), id, query) };
      },
    }),
    route({
      ...common,
      path: `${PATH}/:id/stats`,
      summary: "Uptime, objective and response times of a monitor",
      params: IdParams,
      query: SpanParameters,
      responses: { 200: { description: "Also while the log store does not answer", schema: MonitorStats } },
      handler: async (context, { params, query }) => {
        const asking = { caller: callerOf(context), log: context.log };
        const [stats] = await readStats(deps, asking, [Number(params.id)], query);
        if (stats === undefined) throw noSuchMonitor();
        return { status: 200, body: stats };
      },
    }),
    route({
      ...common,
      path: `${PATH}/stats/batch`,
      summary: "The same of several monitors",
      query: BatchParameters,
      responses: { 200: { description: "In the order of the ids", schema: Type.Array(MonitorStats) } },
      handler: async (context, { query: { ids, ...span } }) => {
        const asking = { caller: callerOf(context), log: context.log };
        const wanted = [...new Set(ids.split(",").map(Number))];
        const stats = await readStats(deps, asking, wanted, span);
        const byId = new Map(stats.map((one) => [one.monitorId, one]));
        return { status: 200, body: wanted.flatMap((id) => byId.get(id) ?? []) };
      },
    }),
    route({
      ...common,
      path: `${PATH}/:id/timeline`,
      summary: "What a monitor was in equal lengths of time",
      params: IdParams,
      query: TimelineParameters,
      responses: { 200: { description: "Also while the log store does not answer", schema: Timeline } },
      handler: async (context, { params, query }) => {
        const asking = { caller: callerOf(context), log: context.log };
        return { status: 200, body: await readTimeline(deps, asking, Number(params.id), query) };
      },
    }),
  ];
}
