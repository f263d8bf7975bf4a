import { type Static, Type } from "typebox";
import { COVERAGE_PROPERTIES, ReadWarning } from "../../../archive/reading/coverage.ts";
import { QUERY_BODY_MAX_CHARS, QUERY_MAX_ROWS } from "../limits.ts";
import { QueryStats } from "../types.ts";

const QUERY = 'where level == "error" | summarize count() by service';
const ROW = ["checkout", 17];

const Column = Type.Object(
  {
    name: Type.String({ examples: ["service"] }),
    type: Type.String({ description: "Kusto's name.", examples: ["string"] }),
  },
  { $id: "QueryColumn" },
);
const Columns = Type.Array(Column, {
  examples: [
    [
      { name: "service", type: "string" },
      { name: "count_", type: "long" },
    ],
  ],
});

export const QueryBody = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: QUERY_BODY_MAX_CHARS,
      description: "KQL over the table `logs`.",
      examples: [QUERY],
    }),
    from: Type.Optional(Type.String({ format: "date-time", description: "Earliest `ts`, itself included." })),
    to: Type.Optional(Type.String({ format: "date-time", description: "Latest `ts`, itself included." })),
  },
  { $id: "Query", additionalProperties: false, examples: [{ query: QUERY }] },
);
export type QueryBody = Static<typeof QueryBody>;

export const QueryAnswer = Type.Object(
  {
    columns: Columns,
    rows: Type.Array(Type.Array(Type.Unknown()), {
      examples: [[ROW]],
      description:
        "At most " +
        QUERY_MAX_ROWS +
        ' rows. Numbers with every digit, or "NaN", "Infinity", "-Infinity"; datetimes in ISO 8601, timespans as d.hh:mm:ss.fffffff, dynamic values as they are.',
    }),
    tables: Type.Optional(
      Type.Array(
        Type.Object({
          columns: Columns,
          rows: Type.Array(Type.Array(Type.Unknown()), { examples: [[ROW]] }),
        }),
        { description: "Further tables, of a query that answers several: `facet`.", examples: [[]] },
      ),
    ),
    truncated: Type.Boolean({ description: "Whether there was more." }),
    ...COVERAGE_PROPERTIES,
    stats: QueryStats,
    render: Type.Optional(
      Type.Object(
        {
          chart: Type.String({ examples: ["barchart"] }),
          properties: Type.Record(Type.String(), Type.String()),
        },
        {
          description: "Of a query that ends in `render`.",
          examples: [{ chart: "barchart", properties: {} }],
        },
      ),
    ),
  },
  { $id: "QueryAnswer" },
);

export const CompletionsBody = Type.Object(
  {
    ...QueryBody.properties,
    query: Type.String({
      maxLength: QUERY_BODY_MAX_CHARS,
      description: "KQL as far as it is written; it need not be right.",
      examples: ["logs | where le"],
    }),
    position: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2 * QUERY_BODY_MAX_CHARS,
        description: "Where something is to be written, in UTF-16 units from 0; at the end by default.",
        examples: [15],
      }),
    ),
  },
  { $id: "KqlCompletionsBody", additionalProperties: false, examples: [{ query: "logs | where le" }] },
);
export type CompletionsBody = Static<typeof CompletionsBody>;

export const CompletionsAnswer = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        kind: Type.Enum(
          ["operator", "table", "column", "function", "aggregate", "keyword", "value", "type"],
          {
            examples: ["column"],
          },
        ),
        label: Type.String({ examples: ["level"] }),
        insert: Type.String({ description: "What is put in place.", examples: ["level"] }),
        detail: Type.Union([Type.String(), Type.Null()], {
          description: "The type of a column, where it is known.",
          examples: ["string"],
        }),
      }),
      { description: "The best one first." },
    ),
    replace: Type.Object(
      { start: Type.Integer({ examples: [13] }), end: Type.Integer({ examples: [15] }) },
      { description: "What the chosen one replaces, in UTF-16 units." },
    ),
    names: Type.Array(ReadWarning, {
      description: "Names in the query, where it is right so far, that no entry seems to have.",
      examples: [[]],
    }),
    ...COVERAGE_PROPERTIES,
  },
  { $id: "KqlCompletions" },
);
export type Completions = Static<typeof CompletionsAnswer>;
