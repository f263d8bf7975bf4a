import type { TransactionSql } from "postgres";
import { Type } from "typebox";
import type { Change } from "../../changes/change.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { alertChannelFlags } from "../../notify/alert-channels.ts";
import { liveStates } from "../../rules/live/live-states.ts";
import { CORRELATIONS } from "../../rules/packs/correlations.ts";
import { runRoutes } from "../../rules/runs/run-routes.ts";
import { correlationOf, type Correlation as ImportedCorrelation } from "../../rules/sigma/converted-rule.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { type PreviewDependencies, previewCorrelation, previewTerms } from "./preview.ts";
import { type CorrelationDependencies, Correlations } from "./rules.ts";
import {
  CatalogRule,
  CorrelationPreview,
  CorrelationPreviewBody,
  CorrelationRule,
  CreateCorrelationBody,
  SeedBody,
  Seeded,
  type StoredCorrelation,
  UpdateCorrelationBody,
} from "./types.ts";

/** Puts a correlation that others have read from elsewhere into its rules. */
export function putsCorrelations(deps: CorrelationDependencies) {
  const rules = new Correlations(deps);
  return (change: Change, asked: ImportedCorrelation, enabled: boolean) =>
    rules.put(change, asked.key, { ...correlationOf(asked), enabled });
}

interface CorrelationRouteDependencies extends CorrelationDependencies, PreviewDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
}

const PATH = "/api/v1/correlation-rules";
const TAG = "Correlation rules";
const read = { role: "viewer", scope: "security:read" } as const;
const write = { role: "member", scope: "security:write" } as const;
const ERRORS = { errors: ["KQL_INVALID", "ALERT_URL_BLOCKED"] } as const;

/** Rules of an organisation about several entries that have to do with each other. */
export function correlationRoutes(deps: CorrelationRouteDependencies) {
  const { sql, onCounterMade } = deps;
  const rules = new Correlations(deps);
  const shownAll = (
    organizationId: number,
    stored: readonly StoredCorrelation[],
  ): Promise<CorrelationRule[]> =>
    askPostgres(() => inOrganization(sql, organizationId, (tx) => shown(tx, organizationId, stored)));
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a correlation rule",
    many: "correlation rules",
    by: BY_ID,
    record: CorrelationRule,
    read,
    write,
    audit: "CORRELATION_RULE",
  });
  return [
    routes.list("Oldest first", async ({ organizationId }) =>
      shownAll(organizationId, await rules.list(organizationId)),
    ),
    routes.create(
      CreateCorrelationBody,
      CorrelationRule,
      async (change, body) => {
        change.afterCommit(onCounterMade);
        return only(await shown(change.tx, change.organizationId, [await rules.create(change, body)]));
      },
      ERRORS,
    ),
    routes.read(CorrelationRule, async ({ organizationId }, id) =>
      only(await shownAll(organizationId, [await rules.read(organizationId, id)])),
    ),
    routes.update(
      UpdateCorrelationBody,
      async (change, id, body) => {
        change.afterCommit(onCounterMade);
        return only(await shown(change.tx, change.organizationId, [await rules.update(change, id, body)]));
      },
      ERRORS,
    ),
    routes.remove((change, id) => rules.remove(change, id)),
    ...runRoutes({
      ...{
        sql,
        path: PATH,
        tag: TAG,
        one: "a correlation rule",
        kind: "correlation",
        audit: "CORRELATION_RULE",
      },
      ...{ read, write, now: deps.now },
      requireRule: (organizationId, id) => rules.read(organizationId, id),
      find: async (caller, id, range) =>
        previewTerms(deps, caller, await rules.read(caller.organizationId, id), range),
    }),
    ...catalogRoutes(deps, rules),
  ];
}

function catalogRoutes(deps: CorrelationRouteDependencies, rules: Correlations) {
  return [
    route({
      method: "POST",
      path: `${PATH}/preview`,
      tag: TAG,
      summary: "See what a correlation rule would have found, before it is made",
      effect: "read",
      access: read,
      body: { kind: "json", schema: CorrelationPreviewBody },
      responses: { 200: { description: "What it would have told", schema: CorrelationPreview } },
      errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { body }) => ({
        status: 200,
        body: await previewCorrelation(deps, callerOf(context), body),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/catalog`,
      tag: TAG,
      summary: "List the correlation rules that come with the server",
      access: read,
      responses: { 200: { description: "As they would be made", schema: Type.Array(CatalogRule) } },
      handler: async () => ({
        status: 200,
        body: CORRELATIONS.map(({ chain: _chain, condition, ...rule }) => ({
          ...rule,
          ...(condition.kind === "sequence"
            ? { kind: condition.kind, steps: condition.steps.map((kql) => ({ kql })) }
            : condition),
        })),
      }),
    }),
    route({
      method: "POST",
      path: `${PATH}/seed`,
      tag: TAG,
      summary: "Make a rule of each of the catalogue, once",
      access: write,
      audit: "SEED_CORRELATION_RULES",
      body: { kind: "json", schema: SeedBody },
      responses: { 200: { description: "How many were made", schema: Seeded } },
      errors: ["CONFLICT"],
      handler: ({ change }, { body }) =>
        change(async (made) => {
          made.afterCommit(deps.onCounterMade);
          return { status: 200, body: await rules.seed(made, body.enable ?? false) };
        }),
    }),
  ];
}

async function shown(
  tx: TransactionSql,
  organizationId: number,
  rules: readonly StoredCorrelation[],
): Promise<CorrelationRule[]> {
  const ids = rules.map(({ id }) => id);
  const stateOf = await liveStates(tx, organizationId, "correlation", ids);
  return rules.map(({ channels, ...rule }) => {
    const { hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD } =
      alertChannelFlags(channels);
    const flags = { hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD };
    return { ...rule, ...flags, ...stateOf(rule.id) };
  });
}

function only([rule]: readonly CorrelationRule[]): CorrelationRule {
  if (rule === undefined) throw new Error("a rule was lost");
  return rule;
}
