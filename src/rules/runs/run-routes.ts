import type { Sql } from "postgres";
import { type Static, Type } from "typebox";
import type { Role, Scope } from "../../access/principal.ts";
import { validationFailed } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { callerOf } from "../../http/query-caller.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { groupName } from "../counters/groups.ts";
import type { RuleKind } from "../live/live-store.ts";
import { sealedEverywhere } from "../streams/stream-store.ts";
import { addFound, insertRun, readRuns } from "./run-store.ts";

const Time = Type.String({ format: "date-time" });

const Run = Type.Object(
  {
    id: Type.Integer({ examples: [3] }),
    from: Time,
    to: Time,
    found: Type.Integer({ description: "Episodes in the range." }),
    added: Type.Integer({ description: "Those of them that were not known; nobody is told of them." }),
    truncated: Type.Boolean({ description: "Whether there were more than one run takes." }),
    runAt: Time,
  },
  { $id: "RuleRun" },
);

const Runs = Type.Object(
  {
    evaluatedThrough: Type.Union([Time, Type.Null()], {
      description: "Up to when everything that came is looked at; null before anything came.",
    }),
    gaps: Type.Array(Type.Object({ from: Time, to: Type.Union([Time, Type.Null()], { examples: [null] }) }), {
      description: "When the rule was off, newest first; without an end while it is.",
    }),
    runs: Type.Array(Run, { description: "What it was evaluated over again, newest first." }),
  },
  { $id: "RuleRuns" },
);

const RunBody = Type.Object(
  {
    from: Type.String({ format: "date-time", examples: ["2026-03-07T22:00:00Z"] }),
    to: Type.String({ format: "date-time", examples: ["2026-03-08T02:00:00Z"] }),
    historic: Type.Optional(
      Type.Boolean({
        description:
          "Whether entries count that were older than a day when they came, as those of old files are, each in its own time; of log alerts that count entries.",
      }),
    ),
  },
  { $id: "RunRule", additionalProperties: false },
);

interface FoundEpisode {
  readonly group: Readonly<Record<string, string | null>>;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly peak: number;
}

interface RunRouteOptions<Path extends string> {
  readonly sql: Sql;
  readonly path: Path;
  readonly tag: string;
  /** With its article. */
  readonly one: string;
  readonly kind: RuleKind;
  readonly read: { readonly role: Role; readonly scope: Scope };
  readonly write: { readonly role: Role; readonly scope: Scope };
  readonly audit: string;
  /** Throws NOT_FOUND for a rule that the organisation has not. */
  readonly requireRule: (organizationId: number, id: number) => Promise<unknown>;
  /** What the rule finds in a range, as its preview does. */
  readonly find: (
    caller: QueryCaller,
    id: number,
    range: Static<typeof RunBody>,
  ) => Promise<{ readonly episodes: readonly FoundEpisode[]; readonly truncated: boolean }>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** When a rule was not evaluated, and its evaluation over a range that is over: by the same code as live, telling nobody. */
export function runRoutes<const Path extends string>(options: RunRouteOptions<Path>) {
  const { sql, path, tag, one, kind, audit } = options;
  const runsPath: `${Path}/:id/runs` = `${path}/:id/runs`;
  return [
    route({
      method: "GET",
      path: runsPath,
      tag,
      summary: `Read when ${one} was not evaluated, and what it was evaluated over again`,
      access: options.read,
      params: IdParams,
      responses: { 200: { description: "Gaps and runs", schema: Runs } },
      handler: async ({ principal: { organizationId } }, { params }) => {
        const ruleId = Number(params.id);
        await options.requireRule(organizationId, ruleId);
        const throughMs = await askPostgres(() => sealedEverywhere(sql));
        const known = await askPostgres(() =>
          inOrganization(sql, organizationId, (tx) => readRuns(tx, organizationId, { kind, ruleId })),
        );
        const evaluatedThrough = throughMs === null ? null : new Date(throughMs).toISOString();
        return { status: 200, body: { evaluatedThrough, ...known } };
      },
    }),
    route({
      method: "POST",
      path: runsPath,
      tag,
      summary: `Evaluate ${one} over a range that is over, telling nobody`,
      access: options.write,
      audit: `RUN_${audit}`,
      params: IdParams,
      body: { kind: "json", schema: RunBody },
      responses: { 201: { description: "What it found", schema: Run } },
      errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { params, body }) => {
        const ruleId = Number(params.id);
        const [fromMs, toMs] = [Date.parse(body.from), Date.parse(body.to)];
        if (fromMs < 0)
          throw validationFailed([{ path: "/from", code: "custom", message: "is before 1970" }]);
        if (toMs > options.now())
          throw validationFailed([{ path: "/to", code: "custom", message: "is not over yet" }]);
        if (body.historic === true && kind !== "log")
          throw validationFailed([{ path: "/historic", code: "custom", message: "is for log alerts" }]);
        // Before the change, for which others of the organisation wait.
        const found = await options.find(callerOf(context), ruleId, body);
        return context.change(async (change) => {
          const { tx, organizationId, nowMs } = change;
          const episodes = found.episodes.map(({ group, startedAt, endedAt, peak }) => ({
            ...{ group: groupName(Object.values(group)), peak },
            ...{ fromMs: Date.parse(startedAt), toMs: Date.parse(endedAt) },
          }));
          const added = await addFound(tx, organizationId, { kind, ruleId }, episodes, nowMs);
          const run = { fromMs, toMs, found: episodes.length, added, truncated: found.truncated };
          const made = await insertRun(tx, organizationId, { kind, ruleId }, run, nowMs);
          change.record({ resource: `${kind}-rule:${ruleId}`, after: { ...made } });
          return { status: 201, body: made };
        });
      },
    }),
  ];
}
