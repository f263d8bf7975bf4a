import { type Static, type TSchema, Type } from "typebox";
import { PRICES_MAX } from "./limits.ts";

const Time = Type.String({ format: "date-time" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
const Count = Type.Integer({ minimum: 0 });
const Millis = Type.String({
  pattern: "^[0-9]{1,15}$",
  description: "Milliseconds since 1970.",
  examples: ["1772971200000"],
});

export const RangeParameters = Type.Object(
  { fromMs: Type.Optional(Millis), toMs: Type.Optional(Millis) },
  closed,
);
export type RangeParameters = Static<typeof RangeParameters>;

export const Connection = Type.Object(
  {
    logs: Type.String({
      description: "Where OpenTelemetry sends logs.",
      examples: ["https://obs.example.com/api/v1/otlp/v1/logs"],
    }),
    traces: Type.String({
      description: "Where it sends spans, of which those about generative AI are kept.",
      examples: ["https://obs.example.com/api/v1/otlp/v1/traces"],
    }),
    protocol: Type.String({ examples: ["http/json"] }),
    header: Type.String({ examples: ["Authorization: Bearer obs_..."] }),
    attributes: Type.Array(Type.String(), { description: "What entries of agents have to carry." }),
    lastSeen: nullable(Type.String({ format: "date-time", description: "Of the last week." })),
    entries: Type.Integer({ minimum: 0, description: "Of the last week." }),
  },
  { $id: "AgentConnection" },
);
export type Connection = Static<typeof Connection>;

const usage = {
  calls: Count,
  errors: Count,
  inputTokens: Type.Number({ minimum: 0 }),
  outputTokens: Type.Number({ minimum: 0 }),
  costUsd: nullable(Type.Number({ minimum: 0, description: "Null where no price is known." })),
  unpriced: Type.Boolean({ description: "Some of it has no price." }),
} as const;

export const Overview = Type.Object(
  {
    from: Time,
    to: Time,
    priceVersion: Type.Integer({ description: "Of the prices by which it was reckoned; 0 without any." }),
    totals: Type.Object(usage),
    agents: Type.Array(Type.Object({ agent: Type.String(), ...usage, lastSeen: Time })),
    models: Type.Array(Type.Object({ model: Type.String(), ...usage, lastSeen: Time })),
    userDays: Type.Array(
      Type.Object({
        user: Type.String(),
        day: Type.String({ format: "date", examples: ["2026-03-08"] }),
        ...usage,
      }),
      {
        description: "What users had agents call on each day of UTC, the latest first.",
      },
    ),
    truncated: Type.Boolean(),
  },
  { $id: "AgentOverview" },
);
export type Overview = Static<typeof Overview>;

const FINDING_KINDS = ["secret", "indicator", "instructions", "call_rate", "new_tool"] as const;

export const Security = Type.Object(
  {
    from: Time,
    to: Time,
    findings: Type.Array(
      Type.Object({
        kind: Type.Enum([...FINDING_KINDS], {
          description:
            "A secret or an indicator handed to a tool, a result that reads like instructions, many more calls in an hour than in others, or a tool that the agent has not called before.",
        }),
        heuristic: Type.Boolean({ description: "Judged by its looks: see it before you act." }),
        agent: Type.String(),
        tool: nullable(Type.String()),
        at: Time,
        entryId: nullable(Type.String()),
        excerpt: nullable(Type.String({ description: "Secrets are masked." })),
      }),
      { description: "Newest first." },
    ),
    truncated: Type.Boolean(),
  },
  { $id: "AgentSecurity" },
);
export type Security = Static<typeof Security>;
export type Finding = Security["findings"][number];

const Dollars = Type.Number({ minimum: 0, maximum: 1_000_000, description: "US dollars." });
const dollarsOr = (other: string) =>
  Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: `US dollars; else as ${other}.` }),
  );
const Price = Type.Object(
  {
    inputPerMillion: Dollars,
    outputPerMillion: Dollars,
    cacheReadPerMillion: dollarsOr("input"),
    cacheWritePerMillion: dollarsOr("input"),
    reasoningPerMillion: dollarsOr("output"),
  },
  { $id: "ModelPrice", ...closed },
);
export type Price = Static<typeof Price>;
export const PricesBody = Type.Object(
  {
    prices: Type.Record(Type.String({ pattern: "^.{1,255}$" }), Price, {
      maxProperties: PRICES_MAX,
      examples: [{ "small-model": { inputPerMillion: 0.5, outputPerMillion: 1.5 } }],
    }),
  },
  { $id: "ModelPricesBody", ...closed },
);
export const Prices = Type.Object(
  {
    version: Type.Integer({ description: "0 where none were set." }),
    prices: PricesBody.properties.prices,
    createdAt: nullable(Time),
  },
  { $id: "ModelPrices" },
);
export type Prices = Static<typeof Prices>;
