import { Type } from "typebox";
import { mayCall } from "../../http/access.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { removeOldDetections } from "../../rules/live/live-store.ts";
import { PACKS } from "../../rules/packs/catalog.ts";
import { runRoutes } from "../../rules/runs/run-routes.ts";
import { IMPORT_MAX_BYTES } from "../../rules/sigma/limits.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { type LogAlertDependencies, LogAlerts } from "./alerts.ts";
import { CatalogPack, SeedBody, Seeded } from "./catalog-types.ts";
import { type PutCorrelation, putImported, readSigma, shownOf } from "./import.ts";
import { ImportBody, Imported, type ImportResult } from "./import-types.ts";
import { type PreviewDependencies, previewAlert, previewTerms } from "./preview.ts";
import { type ReadSavedSearch, withSavedSearch } from "./saved-search.ts";
import { packsOf, seedPacks } from "./seed.ts";
import { seenFields, seenPacks } from "./seen.ts";
import { shownAlerts } from "./shown.ts";
import {
  CreateLogAlertBody,
  LogAlert,
  Preview,
  PreviewBody,
  type StoredLogAlert,
  UpdateLogAlertBody,
} from "./types.ts";

interface LogAlertDomainDependencies extends LogAlertDependencies, PreviewDependencies {
  /** Rings when there is something new to count. */
  readonly onCounterMade: () => void;
  readonly putCorrelation: PutCorrelation;
  readonly readSavedSearch: ReadSavedSearch;
}

const PATH = "/api/v1/log-alerts";
const TAG = "Log alerts";
const read = { role: "viewer", scope: "alerts:read" } as const;
const ERRORS = { errors: ["KQL_INVALID", "ALERT_URL_BLOCKED", "CONFLICT"] } as const;

/** Rules of an organisation about how many entries of a kind there are, and what they would have found. */
export function logAlertDomain(deps: LogAlertDomainDependencies) {
  const { sql, onCounterMade } = deps;
  const alerts = new LogAlerts(deps);
  const shownAll = (organizationId: number, stored: readonly StoredLogAlert[]): Promise<LogAlert[]> =>
    askPostgres(() => inOrganization(sql, organizationId, (tx) => shownAlerts(tx, organizationId, stored)));
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a log alert",
    many: "log alerts",
    by: BY_ID,
    record: LogAlert,
    read,
    write: { role: "member", scope: "alerts:write" },
    audit: "LOG_ALERT",
  });
  return {
    housekeeping: [removeOldDetections],
    routes: [
      routes.list("Oldest first", async ({ organizationId }) =>
        shownAll(organizationId, await alerts.list(organizationId)),
      ),
      routes.create(
        CreateLogAlertBody,
        LogAlert,
        async (change, body) => {
          change.afterCommit(onCounterMade);
          const asked = await withSavedSearch(change, body, deps.readSavedSearch);
          return only(
            await shownAlerts(change.tx, change.organizationId, [await alerts.create(change, asked)]),
          );
        },
        ERRORS,
      ),
      routes.read(LogAlert, async ({ organizationId }, id) =>
        only(await shownAll(organizationId, [await alerts.read(organizationId, id)])),
      ),
      routes.update(
        UpdateLogAlertBody,
        async (change, id, body) => {
          change.afterCommit(onCounterMade);
          return only(
            await shownAlerts(change.tx, change.organizationId, [await alerts.update(change, id, body)]),
          );
        },
        ERRORS,
      ),
      routes.remove((change, id) => alerts.remove(change, id)),
      previewRoute(deps),
      ...runRoutes({
        ...{ sql, path: PATH, tag: TAG, one: "a log alert", kind: "log", audit: "LOG_ALERT", now: deps.now },
        ...{ read, write: { role: "member", scope: "alerts:write" } },
        requireRule: (organizationId, id) => alerts.read(organizationId, id),
        find: async (caller, id, range) =>
          previewTerms(deps, caller, await alerts.read(caller.organizationId, id), {
            ...range,
            channels: [],
          }),
      }),
      ...catalogRoutes(deps, alerts),
      importRoute(deps, alerts),
    ],
  };
}

function only([alert]: readonly LogAlert[]): LogAlert {
  if (alert === undefined) throw new Error("a rule was lost");
  return alert;
}

function catalogRoutes(deps: LogAlertDomainDependencies, alerts: LogAlerts) {
  return [
    route({
      method: "GET",
      path: `${PATH}/catalog`,
      tag: TAG,
      summary: "List the packs of rules that come with the server",
      access: read,
      responses: {
        200: { description: "Each rule with an entry that it counts", schema: Type.Array(CatalogPack) },
      },
      handler: async () => ({ status: 200, body: CATALOG }),
    }),
    route({
      method: "POST",
      path: `${PATH}/seed`,
      tag: TAG,
      summary: "Make rules of packs, of which each is made once",
      access: { role: "member", scope: "alerts:write" },
      audit: "SEED_LOG_ALERTS",
      body: { kind: "json", schema: SeedBody },
      responses: {
        200: { description: "How many were made, and which packs can find something", schema: Seeded },
      },
      errors: ["CONFLICT"],
      handler: async (context, { body }) => {
        const packs = packsOf(body.packs);
        // Before the change, for which others of the organisation wait.
        const seen = await seenPacks(deps.ranges, callerOf(context), packs, deps.now());
        return context.change(async (change) => {
          change.afterCommit(deps.onCounterMade);
          const counts = await seedPacks(alerts, change, packs, body.enable ?? false);
          return { status: 200, body: { ...counts, packs: seen } };
        });
      },
    }),
  ];
}

const CATALOG: CatalogPack[] = PACKS.map(({ id, name, description, expects, rules }) => ({
  ...{ id, name, description, sources: expects.sources },
  rules: rules.map((rule) => ({
    ...rule,
    groupBy: [...rule.groupBy],
    counts: { ...rule.counts },
    leaves: { ...rule.leaves },
  })),
}));

/** Sigma rules become log alerts and correlation rules. */
function importRoute(deps: LogAlertDomainDependencies, alerts: LogAlerts) {
  return route({
    method: "POST",
    path: `${PATH}/import`,
    tag: TAG,
    summary: "Make rules of Sigma rules; those of the same Sigma id are changed",
    access: { role: "member", scope: "alerts:write" },
    audit: "IMPORT_LOG_ALERTS",
    body: { kind: "json", schema: ImportBody, maxBytes: IMPORT_MAX_BYTES },
    responses: { 200: { description: "What became of each document", schema: Imported } },
    errors: ["CONFLICT"],
    handler: async (context, { body }) => {
      const { yaml, dryRun = false, enable = true } = body;
      const converted = await readSigma(yaml);
      // Before the change, for which others of the organisation wait.
      const fields = await seenFields(deps.ranges, callerOf(context), converted, deps.now());
      const withFields = (results: readonly ImportResult[]) => ({
        results: results.map((result, i) => ({ ...result, ...fields[i] })),
      });
      const mayCorrelate = mayCall({ role: "member", scope: "security:write" }, context.principal);
      const putCorrelation = mayCorrelate ? deps.putCorrelation : null;
      return context.change(async (change) => {
        if (dryRun) {
          // That somebody tried is written down like everything that a call of this kind does.
          change.record({ resource: "log-alerts", facts: { dryRun, documents: converted.length } });
          return { status: 200, body: withFields(converted.map(shownOf)) };
        }
        change.afterCommit(deps.onCounterMade);
        const to = { alerts, putCorrelation, enabled: enable };
        return { status: 200, body: withFields(await putImported(change, converted, to)) };
      });
    },
  });
}

function previewRoute(deps: PreviewDependencies) {
  return route({
    method: "POST",
    path: `${PATH}/preview`,
    tag: TAG,
    summary: "See what a log alert would have found, before it is made",
    effect: "read",
    access: read,
    body: { kind: "json", schema: PreviewBody },
    responses: { 200: { description: "What it would have told, and of whom", schema: Preview } },
    errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
    handler: async (context, { body }) => ({
      status: 200,
      body: await previewAlert(deps, callerOf(context), body),
    }),
  });
}
