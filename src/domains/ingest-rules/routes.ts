import type { Sql } from "postgres";
import type { QueryBudget } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import type { Change } from "../../changes/change.ts";
import { validationFailed } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { COUNTS_DEFAULT_MS } from "./limits.ts";
import { previewRule } from "./preview.ts";
import type { RuleDirectory } from "./rule-directory.ts";
import { createRule, listRules, readRuleRecord, removeRule, updateRule } from "./rules.ts";
import { readRuleHours } from "./store.ts";
import {
  CreateIngestRuleBody,
  IngestRule,
  PreviewRuleBody,
  RuleCountParameters,
  RuleCounts,
  RulePreview,
  UpdateIngestRuleBody,
} from "./types.ts";

export interface IngestRuleRouteDependencies {
  readonly sql: Sql;
  readonly rules: Pick<RuleDirectory, "forget">;
  readonly ranges: LogRanges;
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const PATH = "/api/v1/ingest/rules";
const TAG = "Ingest rules";
const read = { role: "viewer", scope: "sources:read" } as const;

/** What becomes of an organisation's entries before they are stored. */
export function ingestRuleRoutes(deps: IngestRuleRouteDependencies) {
  const { sql, rules } = deps;
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "an ingest rule",
    many: "ingest rules",
    by: BY_ID,
    record: IngestRule,
    read,
    write: { role: "member", scope: "sources:write" },
    audit: "INGEST_RULE",
  });
  const forgets = (change: Change): void => change.afterCommit(() => rules.forget(change.organizationId));
  return [
    routes.list("In the order in which they are asked", ({ organizationId }) =>
      listRules(sql, organizationId),
    ),
    routes.create(
      CreateIngestRuleBody,
      IngestRule,
      (change, body) => {
        forgets(change);
        return createRule(change, body);
      },
      { errors: ["KQL_INVALID"] },
    ),
    routes.read(IngestRule, ({ organizationId }, id) => readRuleRecord(sql, organizationId, id)),
    routes.update(
      UpdateIngestRuleBody,
      (change, id, body) => {
        forgets(change);
        return updateRule(change, id, body);
      },
      { errors: ["KQL_INVALID"] },
    ),
    routes.remove((change, id) => {
      forgets(change);
      return removeRule(change, id);
    }),
    countsRoute(deps),
    previewRoute(deps),
  ];
}

function countsRoute({ sql, now }: IngestRuleRouteDependencies) {
  return route({
    method: "GET",
    path: `${PATH}/:id/counts`,
    tag: TAG,
    summary: "Count what an ingest rule dropped and masked, by the hour",
    access: read,
    params: IdParams,
    query: RuleCountParameters,
    responses: { 200: { description: "The counts", schema: RuleCounts } },
    handler: async ({ principal: { organizationId } }, { params, query }) => {
      const id = Number(params.id);
      const to = query.to === undefined ? new Date(now()) : new Date(query.to);
      const from =
        query.from === undefined ? new Date(to.getTime() - COUNTS_DEFAULT_MS) : new Date(query.from);
      if (from > to)
        throw validationFailed([{ path: "/from", code: "custom", message: "is later than `to`" }]);
      await readRuleRecord(sql, organizationId, id);
      const hours = await askPostgres(() =>
        inOrganization(sql, organizationId, (tx) => readRuleHours(tx, organizationId, id, { from, to })),
      );
      const body: RuleCounts = {
        hours,
        dropped: hours.reduce((sum, { dropped }) => sum + dropped, 0),
        masked: hours.reduce((sum, { masked }) => sum + masked, 0),
      };
      return { status: 200, body };
    },
  });
}

function previewRoute(deps: IngestRuleRouteDependencies) {
  return route({
    method: "POST",
    path: `${PATH}/preview`,
    tag: TAG,
    summary: "Try an ingest rule on stored entries; changes nothing",
    // It shows entries.
    access: { role: "viewer", scope: "logs:read" },
    effect: "read",
    body: { kind: "json", schema: PreviewRuleBody },
    responses: { 200: { description: "What it would have done", schema: RulePreview } },
    errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
    handler: async (context, { body }) => ({
      status: 200,
      body: await previewRule(deps, callerOf(context), body),
    }),
  });
}
