import { type Static, Type } from "typebox";
import { LEVEL_NUMBERS } from "../../../ingest/index.ts";
import { SEARCH_TEXT_MAX_CHARS } from "../../../query/index.ts";
import { CURSOR_MAX_CHARS, PAGE_DEFAULT_ENTRIES, PAGE_MAX_ENTRIES, SERVICE_MAX_CHARS } from "./limits.ts";

const Level = Type.Enum(Object.keys(LEVEL_NUMBERS));

/** The parameters that say which entries are meant. */
const FILTER_PARAMETERS = {
  q: Type.Optional(
    Type.String({
      maxLength: SEARCH_TEXT_MAX_CHARS,
      description:
        'Words that must all occur in the message, in any order, whatever their case, also inside words; `"a phrase"` as ' +
        "it stands; `-not` for what must not occur; `OR` between alternatives. Empty matches everything.",
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

const Text = Type.Union([Type.String(), Type.Null()]);

export const Entry = Type.Object({
  id: Type.String({ pattern: "^[0-9]+$", description: "A decimal number of 64 bits that grows with time." }),
  ts: Type.String({ format: "date-time", description: "To the nanosecond: 3, 6 or 9 digits of fraction." }),
  receivedAt: Type.String({ format: "date-time" }),
  level: Type.Union([Level, Type.Null()]),
  service: Text,
  source: Text,
  host: Text,
  message: Type.String(),
  event_id: Text,
  traceId: Text,
  spanId: Text,
  attrs: Type.Record(Type.String(), Type.Unknown(), {
    description: "The attributes as they came, numbers with every digit.",
  }),
});

export const SearchAnswer = Type.Object({
  entries: Type.Array(Entry, { description: "Newest first; entries of one time by id, largest first." }),
  nextCursor: Type.Union([Type.String(), Type.Null()], {
    description:
      "The next page. Null on the last one. Pages show what there was when the first one was made.",
  }),
  total: Type.Integer({
    description: "Entries that match, on all pages; at least so many when it is not exact.",
  }),
  totalIsExact: Type.Boolean(),
  partial: Type.Boolean({
    description: "Whether entries may be missing because a part of the store did not answer.",
  }),
  stats: Type.Object({
    rowsRead: Type.Integer(),
    bytesRead: Type.Integer({ description: "Uncompressed." }),
    elapsedMs: Type.Number(),
  }),
});
