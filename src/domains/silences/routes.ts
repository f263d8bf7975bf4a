import type { Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { type FieldIssue, validationFailed } from "../../errors.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import type { RuleEvidence } from "../../problems/events.ts";
import { SILENCE_MAX_MS, SILENCES_KEPT_MS, SILENCES_MAX } from "./limits.ts";
import { CreateSilenceBody, Silence, UpdateSilenceBody } from "./types.ts";

const silences = new Records<typeof Silence, CreateSilenceBody, UpdateSilenceBody>({
  noun: "silence",
  table: "silences",
  schema: Silence,
  maxPerOrganization: SILENCES_MAX,
  check: async (fields, before, change) => {
    const whole = { ...before, ...fields };
    const issues = [
      ...issuesOf(whole, change.nowMs, before === null),
      ...(await unknownIn(change, whole, before)),
    ];
    if (issues.length > 0) throw validationFailed(issues);
  },
});

/** Times in which nobody is told of certain incidents. */
export function silenceRoutes({ sql }: { readonly sql: Sql }) {
  const routes = resource({
    path: "/api/v1/silences",
    tag: "Silences",
    one: "a silence",
    many: "silences",
    by: BY_ID,
    record: Silence,
    read: { role: "viewer", scope: "alerts:read" },
    write: { role: "member", scope: "alerts:write" },
    audit: "SILENCE",
  });
  return [
    routes.list("Oldest first, those of the last 30 days included", ({ organizationId }) =>
      silences.list(sql, organizationId),
    ),
    routes.create(CreateSilenceBody, Silence, (change, body) => {
      const { startsAt = new Date(change.nowMs).toISOString() } = body;
      return silences.create(change, { ...body, startsAt });
    }),
    routes.read(Silence, ({ organizationId }, id) => silences.read(sql, organizationId, id)),
    routes.update(UpdateSilenceBody, (change, id, { startsAt, ...body }) =>
      silences.update(change, id, {
        ...body,
        ...(startsAt !== undefined && { startsAt: startsAt ?? new Date(change.nowMs).toISOString() }),
      }),
    ),
    routes.remove((change, id) => silences.remove(change, id)),
  ];
}

function issuesOf(
  { startsAt, endsAt = "", source, ruleKind, ruleId, monitorId, groupKey }: UpdateSilenceBody,
  nowMs: number,
  isNew: boolean,
): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const issue = (path: string, message: string) => issues.push({ path, code: "custom", message });
  const startMs = startsAt === undefined || startsAt === null ? nowMs : Date.parse(startsAt);
  const endMs = Date.parse(endsAt);
  if (startMs < 0) issue("/startsAt", "is before 1970");
  if (endMs <= startMs) issue("/endsAt", "is not later than it begins");
  else if (endMs - startMs > SILENCE_MAX_MS) issue("/endsAt", "is more than a year after it begins");
  else if (isNew && endMs <= nowMs) issue("/endsAt", "is over already");
  const given = [source, ruleKind, monitorId, groupKey].filter((each) => each !== undefined && each !== null);
  if (given.length === 0)
    issue("", "would silence everything: give `source`, `ruleKind`, `monitorId` or `groupKey`");
  if (ruleId !== undefined && ruleId !== null && (ruleKind === undefined || ruleKind === null))
    issue("/ruleKind", "is needed to know which rule has that id");
  return issues;
}

/** Where the rules of a kind are. */
const TABLES: Readonly<Record<RuleEvidence["ruleKind"], string>> = {
  log: "log_alerts",
  metric: "metric_alerts",
  correlation: "correlation_rules",
};

/** What a silence newly names and the organisation has not; what it named before may be gone by now. */
async function unknownIn(
  { tx, organizationId }: Change,
  { ruleKind, ruleId, monitorId }: UpdateSilenceBody,
  before: UpdateSilenceBody | null,
): Promise<FieldIssue[]> {
  const has = async (table: string, id: number): Promise<boolean> => {
    const found = await tx`
      SELECT 1 FROM ${tx(table)} WHERE organization_id = ${organizationId} AND id = ${id}`;
    return found.length > 0;
  };
  const issues: FieldIssue[] = [];
  const isNewRule = ruleKind !== before?.ruleKind || ruleId !== before?.ruleId;
  if (isNewRule && typeof ruleId === "number" && typeof ruleKind === "string")
    if (!(await has(TABLES[ruleKind], ruleId)))
      issues.push({ path: "/ruleId", code: "custom", message: `is no ${ruleKind} rule` });
  if (typeof monitorId === "number" && monitorId !== before?.monitorId && !(await has("monitors", monitorId)))
    issues.push({ path: "/monitorId", code: "custom", message: "is no monitor" });
  return issues;
}

/** Removes silences that were over long ago, at most `limit`. */
export async function removeOldSilences(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM silences WHERE id IN (
      SELECT id FROM silences WHERE ends_at < ${new Date(nowMs - SILENCES_KEPT_MS)}
      ORDER BY ends_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}
