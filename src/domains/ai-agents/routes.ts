import type { Sql } from "postgres";
import { aggregate, aggregateCall, call, columnOf, filter, literal } from "../../../query/index.ts";
import { NAMES, textOf } from "../../entities/agent-attributes.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { KNOWN_TOOLS_MS } from "./limits.ts";
import { type AgentReading, agentEntries, readOverview, timeRangeOf } from "./overview.ts";
import { readPrices, setPrices } from "./prices.ts";
import { readSecurity } from "./security.ts";
import { Connection, Overview, Prices, PricesBody, RangeParameters, Security } from "./types.ts";

interface AgentDependencies extends AgentReading {
  readonly sql: Sql;
  readonly publicUrl: string;
}

const PATH = "/api/v1/ai-agents";
const TAG = "AI agents";
const access = { role: "viewer", scope: "security:read" } as const;
const errors = ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"] as const;
const NANOS_PER_MILLI = 1_000_000n;

/** What AI agents did, by what their logs carry. */
export function aiAgentRoutes(deps: AgentDependencies) {
  const { sql } = deps;
  return [
    route({
      method: "GET",
      path: `${PATH}/connection`,
      tag: TAG,
      summary: "Say where agents send their logs, and what arrived of them",
      access,
      responses: { 200: { description: "Without the token", schema: Connection } },
      errors,
      handler: async (context) => ({ status: 200, body: await readConnection(deps, callerOf(context)) }),
    }),
    route({
      method: "GET",
      path: `${PATH}/overview`,
      tag: TAG,
      summary: "Read what agents called, and what that cost",
      access,
      query: RangeParameters,
      responses: { 200: { description: "By agent and by model", schema: Overview } },
      errors,
      handler: async (context, { query }) => {
        const prices = await readPrices(sql, context.principal.organizationId);
        return { status: 200, body: await readOverview(deps, callerOf(context), query, prices) };
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/security`,
      tag: TAG,
      summary: "Read what is noticeable about agents",
      access,
      query: RangeParameters,
      responses: { 200: { description: "Newest first", schema: Security } },
      errors,
      handler: async (context, { query }) => ({
        status: 200,
        body: await readSecurity(deps, callerOf(context), query),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/prices`,
      tag: TAG,
      summary: "Read what models cost",
      access,
      responses: { 200: { description: "The version that holds", schema: Prices } },
      handler: async ({ principal }) => ({
        status: 200,
        body: await readPrices(sql, principal.organizationId),
      }),
    }),
    route({
      method: "PUT",
      path: `${PATH}/prices`,
      tag: TAG,
      summary: "Set what models cost, as another version",
      access: { role: "admin", scope: "security:write" },
      audit: "SET_MODEL_PRICES",
      body: { kind: "json", schema: PricesBody },
      responses: { 200: { description: "The version that holds from now on", schema: Prices } },
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 200, body: await setPrices(made, body.prices) })),
    }),
  ];
}

async function readConnection(
  { ranges, budget, now, publicUrl }: AgentDependencies,
  caller: QueryCaller,
): Promise<Connection> {
  const all = agentEntries({ agent: textOf(NAMES.agent) });
  const named = filter(all, call("notEqual", columnOf(all, "agent"), literal("string", "")));
  const plan = aggregate(
    named,
    [],
    [aggregateCall("n", "count"), aggregateCall("last", "max", columnOf(named, "ts"))],
  );
  const timeRange = timeRangeOf({ fromMs: now() - KNOWN_TOOLS_MS, toMs: now() });
  const { value } = await ranges.read(caller, (logs) =>
    logs.run({ operation: "agent_connection", plan, timeRange, maxRows: 1, budget }),
  );
  const [[count, last] = []] = value.rows;
  const entries = Number(count ?? 0);
  return {
    logs: `${publicUrl}/api/v1/otlp/v1/logs`,
    traces: `${publicUrl}/api/v1/otlp/v1/traces`,
    protocol: "http/json",
    header: "Authorization: Bearer obs_...",
    attributes: [NAMES.agent[0], NAMES.model[1], NAMES.inputTokens[0], NAMES.outputTokens[0], NAMES.tool[0]],
    lastSeen: entries === 0 ? null : new Date(Number(BigInt(String(last)) / NANOS_PER_MILLI)).toISOString(),
    entries,
  };
}
