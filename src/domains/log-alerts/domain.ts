import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { removeOldDetections } from "../../rules/live/live-store.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { type LogAlertDependencies, LogAlerts } from "./alerts.ts";
import { type PreviewDependencies, previewAlert } from "./preview.ts";
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
}

const PATH = "/api/v1/log-alerts";
const TAG = "Log alerts";
const read = { role: "viewer", scope: "alerts:read" } as const;
const ERRORS = { errors: ["KQL_INVALID", "ALERT_URL_BLOCKED"] } as const;

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
          return only(
            await shownAlerts(change.tx, change.organizationId, [await alerts.create(change, body)]),
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
    ],
  };
}

function only([alert]: readonly LogAlert[]): LogAlert {
  if (alert === undefined) throw new Error("a rule was lost");
  return alert;
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
