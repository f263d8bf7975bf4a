import { type Static, Type } from "typebox";
import { QUERY_BODY_MAX_CHARS, QUERY_MAX_ROWS } from "../limits.ts";

export const QueryBody = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: QUERY_BODY_MAX_CHARS,
      description: "KQL over the table `logs`.",
    }),
    from: Type.Optional(Type.String({ format: "date-time", description: "Earliest `ts`, itself included." })),
    to: Type.Optional(Type.String({ format: "date-time", description: "Latest `ts`, itself included." })),
  },
  { additionalProperties: false },
);
export type QueryBody = Static<typeof QueryBody>;

export const QueryAnswer = Type.Object({
  columns: Type.Array(
    Type.Object({ name: Type.String(), type: Type.String({ description: "Kusto's name." }) }),
  ),
  rows: Type.Array(Type.Array(Type.Unknown()), {
    description:
      "At most " +
      QUERY_MAX_ROWS +
      ' rows. Numbers with every digit, or "NaN", "Infinity", "-Infinity"; datetimes in ISO 8601, timespans as d.hh:mm:ss.fffffff, dynamic values as they are.',
  }),
  tables: Type.Optional(
    Type.Array(
      Type.Object({
        columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
        rows: Type.Array(Type.Array(Type.Unknown())),
      }),
      { description: "Further tables, of a query that answers several: `facet`." },
    ),
  ),
  truncated: Type.Boolean({ description: "Whether there was more." }),
  stats: Type.Object({
    rowsRead: Type.Integer(),
    bytesRead: Type.Integer({ description: "Uncompressed." }),
    elapsedMs: Type.Number(),
  }),
  render: Type.Optional(
    Type.Object({ chart: Type.String(), properties: Type.Record(Type.String(), Type.String()) }),
  ),
});
