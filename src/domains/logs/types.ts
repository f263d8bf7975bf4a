import { type Static, Type } from "typebox";
import { LEVEL_NUMBERS } from "../../../ingest/index.ts";
import { SEARCH_TEXT_MAX_CHARS } from "../../../query/index.ts";
import { ArchiveStats, COVERAGE_PROPERTIES } from "../../archive/reading/coverage.ts";
import {
  CONTEXT_DEFAULT_ENTRIES,
  CONTEXT_MAX_ENTRIES,
  CURSOR_MAX_CHARS,
  PAGE_DEFAULT_ENTRIES,
  PAGE_MAX_ENTRIES,
  QUERY_MAX_CHARS,
  SERVICE_MAX_CHARS,
} from "./limits.ts";

const Level = Type.Enum(Object.keys(LEVEL_NUMBERS), { examples: ["error"] });

/** The parameters that say which entries are meant. */
export const FILTER_PARAMETERS = {
  q: Type.Optional(
    Type.String({
      maxLength: SEARCH_TEXT_MAX_CHARS,
      description:
        'Words that must all occur in the message, in any order, whatever their case, also inside words; `"a phrase"` as ' +
        "it stands; `-not` for what must not occur; `OR` between alternatives. Empty matches everything.",
    }),
  ),
  query: Type.Optional(
    Type.String({
      maxLength: QUERY_MAX_CHARS,
      description: "KQL that keeps entries as they are: a condition, or a pipeline of `where` and the like.",
    }),
  ),
  service: Type.Optional(
    Type.String({ minLength: 1, maxLength: SERVICE_MAX_CHARS, description: "The whole name." }),
  ),
  level: Type.Optional(Level),
  from: Type.Optional(Type.String({ format: "date-time", description: "Earliest `ts`, itself included." })),
  to: Type.Optional(Type.String({ format: "date-time", description: "Latest `ts`, itself included." })),
};

export const SearchParameters = Type.Object(
  {
    ...FILTER_PARAMETERS,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PAGE_MAX_ENTRIES, default: PAGE_DEFAULT_ENTRIES }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: CURSOR_MAX_CHARS,
        description: "`nextCursor` of the page before, with the same filters. `limit` may differ.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type SearchParameters = Static<typeof SearchParameters>;

const Text = (example: string | null) => Type.Union([Type.String(), Type.Null()], { examples: [example] });

export const Entry = Type.Object(
  {
    id: Type.String({
      pattern: "^[0-9]+$",
      description: "A decimal number of 64 bits that grows with time.",
      examples: ["116013982208032769"],
    }),
    ts: Type.String({
      format: "date-time",
      description: "To the nanosecond: 3, 6 or 9 digits of fraction.",
      examples: ["2026-03-01T11:59:58.734Z"],
    }),
    receivedAt: Type.String({ format: "date-time" }),
    level: Type.Union([Level, Type.Null()]),
    service: Text("checkout"),
    source: Text(null),
    host: Text("web-1"),
    message: Type.String({ examples: ["payment failed: card declined"] }),
    event_id: Text(null),
    traceId: Text("4bf92f3577b34da6a3ce929d0e0e4736"),
    spanId: Text("00f067aa0ba902b7"),
    attrs: Type.Record(Type.String(), Type.Unknown(), {
      description: "The attributes as they came, numbers with every digit.",
      examples: [{ status: 502, "user.id": 42 }],
    }),
  },
  { $id: "LogEntry" },
);

/** What an answer took. */
export const QueryStats = Type.Object(
  {
    rowsRead: Type.Integer({ examples: [8192] }),
    bytesRead: Type.Integer({ description: "Uncompressed.", examples: [1_048_576] }),
    elapsedMs: Type.Number({ examples: [12.5] }),
    archive: ArchiveStats,
  },
  { $id: "QueryStats" },
);

export const SearchAnswer = Type.Object(
  {
    entries: Type.Array(Entry, { description: "Newest first; entries of one time by id, largest first." }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      examples: [null],
      description:
        "The next page. Null on the last one. Pages show what there was when the first one was made.",
    }),
    total: Type.Integer({
      description: "Entries that match, on all pages; at least so many when it is not exact.",
    }),
    totalIsExact: Type.Boolean({ examples: [true] }),
    ...COVERAGE_PROPERTIES,
    stats: QueryStats,
  },
  { $id: "SearchAnswer" },
);

export const ContextParameters = Type.Object(
  {
    before: Type.Optional(
      Type.Integer({ minimum: 0, maximum: CONTEXT_MAX_ENTRIES, default: CONTEXT_DEFAULT_ENTRIES }),
    ),
    after: Type.Optional(
      Type.Integer({ minimum: 0, maximum: CONTEXT_MAX_ENTRIES, default: CONTEXT_DEFAULT_ENTRIES }),
    ),
    sameService: Type.Optional(Type.Boolean({ description: "Only entries of the entry's own service." })),
    sameHost: Type.Optional(Type.Boolean({ description: "Only entries of the entry's own host." })),
  },
  { additionalProperties: false },
);
export type ContextParameters = Static<typeof ContextParameters>;

export const ContextAnswer = Type.Object(
  {
    before: Type.Array(Entry, { description: "Oldest first; entries of one time by id." }),
    entry: Entry,
    after: Type.Array(Entry, { description: "Oldest first." }),
    ...COVERAGE_PROPERTIES,
  },
  { $id: "EntryContext" },
);

export const ExportParameters = Type.Object(
  { ...FILTER_PARAMETERS, format: Type.Optional(Type.Enum(["ndjson", "csv"], { default: "ndjson" })) },
  { additionalProperties: false },
);
export type ExportParameters = Static<typeof ExportParameters>;
