import type { Sql } from "postgres";
import { type Static, Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { PageParameters, pageBody, pageOf, pageStart } from "../../http/record-page.ts";
import { recordId } from "../../http/stored-values.ts";
import { RuleEvidence } from "../../problems/events.ts";
import { groupValues } from "../../rules/counters/groups.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";

const Time = Type.String({ format: "date-time" });
/** No rule looks before it, and databases hold no time of every year. */
const EARLIEST_MS = 0;
const LATEST_MS = Date.parse("9999-01-01T00:00:00Z");
const RuleKind = Type.Enum([...RuleEvidence.properties.ruleKind.enum], { examples: ["log"] });

const Detection = Type.Object(
  {
    id: Type.Integer({ examples: [31] }),
    ruleKind: RuleKind,
    ruleId: Type.Integer({ examples: [5] }),
    group: Type.Array(Type.String(), {
      description: "The values of the fields that the rule groups by.",
      examples: [["web-3"]],
    }),
    startedAt: Time,
    endedAt: Time,
    peak: Type.Number({ examples: [12] }),
    isTold: Type.Boolean({ description: "Whether it made an incident, or belongs to one." }),
    mode: Type.Enum(["live", "run"], {
      description: "`run`: somebody had the past looked at again.",
      examples: ["live"],
    }),
    detectedAt: Time,
  },
  { $id: "Detection" },
);
type Detection = Static<typeof Detection>;

const Parameters = Type.Object(
  {
    ...PageParameters.properties,
    ruleKind: Type.Optional(RuleKind),
    ruleId: Type.Optional(recordId()),
    from: Type.Optional(
      Type.String({ format: "date-time", description: "Those that were not over before." }),
    ),
    to: Type.Optional(Type.String({ format: "date-time", description: "Those that began before." })),
  },
  { additionalProperties: false },
);

interface DetectionRow {
  readonly id: number;
  readonly rule_kind: Detection["ruleKind"];
  readonly rule_id: number;
  readonly group_key: string;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly peak: number;
  readonly is_reported: boolean;
  readonly mode: Detection["mode"];
  readonly detected_at: Date;
}

/** What rules have found, whoever was told of it. */
export function detectionRoutes({ sql, cursorKey }: { readonly sql: Sql; readonly cursorKey: Uint8Array }) {
  return [
    route({
      method: "GET",
      path: "/api/v1/detections",
      tag: "Detections",
      summary: "List what rules have found",
      access: { role: "viewer", scope: "alerts:read" },
      query: Parameters,
      responses: { 200: { description: "Newest first", schema: pageOf(Detection) } },
      handler: async ({ principal: { organizationId } }, { query }) => {
        const { ruleKind, ruleId, from, to, ...start } = query;
        const purpose = `detections:${JSON.stringify([ruleKind, ruleId, from, to])}`;
        const list = { key: cursorKey, purpose, organizationId };
        const { beforeId, limit } = pageStart(start, list);
        const rows = await askPostgres(() =>
          inOrganization(
            sql,
            organizationId,
            (tx) => tx<DetectionRow[]>`
              SELECT id::integer, rule_kind, rule_id::float8, group_key, started_at, ended_at, peak, is_reported, mode,
                     detected_at
              FROM detections
              WHERE organization_id = ${organizationId} AND merged_into IS NULL
                AND ${beforeId === null ? tx`true` : tx`id < ${beforeId}`}
                AND ${ruleKind === undefined ? tx`true` : tx`rule_kind = ${ruleKind}`}
                AND ${ruleId === undefined ? tx`true` : tx`rule_id = ${ruleId}`}
                AND ${from === undefined ? tx`true` : tx`ended_at >= ${timeWithin(from)}`}
                AND ${to === undefined ? tx`true` : tx`started_at < ${timeWithin(to)}`}
              ORDER BY id DESC LIMIT ${limit + 1}`,
          ),
        );
        const items = rows.slice(0, limit).map(detectionOf);
        return { status: 200, body: pageBody({ items, hasMore: rows.length > limit }, list) };
      },
    }),
  ];
}

/** The nearest time that may stand beside a detection. */
function timeWithin(text: string): Date {
  return new Date(Math.min(Math.max(Date.parse(text), EARLIEST_MS), LATEST_MS));
}

function detectionOf(row: DetectionRow): Detection {
  return {
    ...{ id: row.id, ruleKind: row.rule_kind, ruleId: row.rule_id, group: [...groupValues(row.group_key)] },
    ...{ startedAt: row.started_at.toISOString(), endedAt: row.ended_at.toISOString() },
    ...{ peak: row.peak, isTold: row.is_reported && row.mode === "live", mode: row.mode },
    detectedAt: row.detected_at.toISOString(),
  };
}
