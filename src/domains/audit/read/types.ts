import { type Static, Type } from "typebox";
import {
  ACTION_MAX_CHARS,
  CURSOR_MAX_CHARS,
  PAGE_DEFAULT_ROWS,
  PAGE_MAX_ROWS,
} from "../../../audit/limits.ts";
import { recordId } from "../../../http/stored-values.ts";

const Id = recordId();

/** The parameters that say which rows are meant. */
const FILTER_PARAMETERS = {
  action: Type.Optional(
    Type.String({
      pattern: `^[A-Z][A-Z0-9_]{0,${ACTION_MAX_CHARS - 1}}$`,
      description: "The whole action, for example `CREATE_MONITOR`.",
    }),
  ),
  actor: Type.Optional(Type.Integer({ ...Id, description: "The id of the user who acted." })),
  pat_id: Type.Optional(Type.Integer({ ...Id, description: "The id of the token that was used." })),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Earliest `createdAt`, itself included." }),
  ),
  to: Type.Optional(
    Type.String({ format: "date-time", description: "Latest `createdAt`, itself included." }),
  ),
};

export const ListParameters = Type.Object(
  {
    ...FILTER_PARAMETERS,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX_ROWS, default: PAGE_DEFAULT_ROWS })),
    cursor: Type.Optional(
      Type.String({
        maxLength: CURSOR_MAX_CHARS,
        description:
          "`nextCursor` of the page before, with the same filters. `limit` and `format` may differ.",
      }),
    ),
    format: Type.Optional(Type.Enum(["json", "csv"], { default: "json" })),
  },
  { additionalProperties: false },
);
export type ListParameters = Static<typeof ListParameters>;

export const ExportParameters = Type.Object(
  { ...FILTER_PARAMETERS, format: Type.Optional(Type.Enum(["ndjson", "csv"], { default: "ndjson" })) },
  { additionalProperties: false },
);
export type ExportParameters = Static<typeof ExportParameters>;

const OptionalId = Type.Union([Type.Integer({ examples: [7] }), Type.Null()]);

const AuditLogRow = Type.Object(
  {
    id: Type.Integer({ examples: [1042] }),
    createdAt: Type.String({ format: "date-time" }),
    actorUserId: OptionalId,
    actorPatId: Type.Union([Type.Integer(), Type.Null()], {
      description: "Null for a session.",
      examples: [null],
    }),
    actorEmail: Type.String({ examples: ["ana@example.com"] }),
    action: Type.String({ examples: ["UPDATE_SAVED_SEARCH"] }),
    resource: Type.String({
      description: "What was changed, for example `monitor:17`.",
      examples: ["saved_search:17"],
    }),
    meta: Type.Object(
      {
        changedFields: Type.Array(Type.String({ examples: ["name"] })),
        diff: Type.Record(Type.String(), Type.Unknown(), {
          description: "By field `{from,to}`, or `{redacted:true}`.",
          examples: [{ name: { from: "Errors", to: "Errors of checkout" } }],
        }),
        ip: Type.String({ examples: ["192.0.2.17"] }),
        ua: Type.Union([Type.String(), Type.Null()], { examples: ["curl/8.7.1"] }),
        snapshot: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: "The fields of what is gone." }),
        ),
      },
      {
        additionalProperties: true,
        description: "May hold further facts.",
        examples: [
          {
            changedFields: ["name"],
            diff: { name: { from: "Errors", to: "Errors of checkout" } },
            ip: "192.0.2.17",
            ua: "curl/8.7.1",
          },
        ],
      },
    ),
  },
  { $id: "AuditLogRow" },
);

export const ListAnswer = Type.Object(
  {
    items: Type.Array(AuditLogRow, { description: "Newest first." }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      examples: [null],
      description: "The next page. Null on the last one. Rows that are added meanwhile are on none of them.",
    }),
  },
  { $id: "AuditLogPage" },
);
