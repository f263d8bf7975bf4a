import { type Static, Type } from "typebox";
import { CHECK_ERRORS } from "../../../probes/check.ts";

const Time = Type.String({ format: "date-time" });
const Percent = Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
  description: "Outside of maintenance; null where nothing is known, as before the first check.",
  examples: [99.95],
});
const Milliseconds = Type.Number({ minimum: 0, examples: [87.4] });
const Seconds = (description: string) => Type.Number({ minimum: 0, description, examples: [43.2] });

/** Checks on one page of the list. */
const PAGE_MAX = 1000;
export const PAGE_DEFAULT = 100;
const CURSOR_MAX_CHARS = 128;

export const CheckListParameters = Type.Object({
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
  cursor: Type.Optional(Type.String({ maxLength: CURSOR_MAX_CHARS })),
});
export type CheckListParameters = Static<typeof CheckListParameters>;

const Check = Type.Object(
  {
    startedAt: Time,
    region: Type.String({ examples: ["local"] }),
    status: Type.Enum(["up", "degraded", "down", "unknown", "missed"]),
    durationMs: Milliseconds,
    statusCode: Type.Union([Type.Integer(), Type.Null()], { examples: [200] }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: `Why it was not up: one of ${CHECK_ERRORS.join(", ")}.`,
      examples: [null],
    }),
    inMaintenance: Type.Boolean(),
  },
  { $id: "MonitorCheck" },
);
export type Check = Static<typeof Check>;

export const CheckList = Type.Object(
  { items: Type.Array(Check), nextCursor: Type.Union([Type.String(), Type.Null()]) },
  { $id: "MonitorChecks" },
);
export type CheckList = Static<typeof CheckList>;

export const SpanParameters = Type.Object({
  from: Type.Optional(
    Type.String({ format: "date-time", description: "The window of the objective before `to` when absent." }),
  ),
  to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
});
export type SpanParameters = Static<typeof SpanParameters>;

export const BatchParameters = Type.Object({
  ids: Type.String({
    pattern: "^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,99}$",
    description: "Up to 100, with commas between them. Those that the organisation has not are left out.",
    examples: ["17,18"],
  }),
  ...SpanParameters.properties,
});

const Count = Type.Integer({ minimum: 0 });

export const MonitorStats = Type.Object(
  {
    monitorId: Type.Integer({ examples: [17] }),
    from: Time,
    to: Time,
    uptimePercent: Percent,
    downtimeSec: Seconds("Outside of maintenance."),
    checks: Type.Union(
      [
        Type.Object({
          total: Count,
          up: Count,
          degraded: Count,
          down: Count,
          unknown: Count,
          missed: Count,
        }),
        Type.Null(),
      ],
      { description: "Null while the log store does not answer." },
    ),
    responseTimeMs: Type.Union(
      [
        Type.Object({
          avg: Milliseconds,
          min: Milliseconds,
          p50: Milliseconds,
          p95: Milliseconds,
          p99: Milliseconds,
          max: Milliseconds,
        }),
        Type.Null(),
      ],
      {
        description:
          "Of checks that were up or degraded; null where there is none, and while the log store does not answer.",
      },
    ),
    slo: Type.Object(
      {
        targetBp: Type.Integer({ examples: [9990] }),
        windowDays: Type.Integer({ examples: [30] }),
        downtimeSec: Seconds("Of the window, outside of maintenance."),
        allowedDowntimeSec: Seconds("What the objective leaves of the full window."),
        budgetLeftSec: Seconds("What is left of that."),
        breached: Type.Boolean(),
      },
      { description: "How the objective stands now, whatever time is asked for." },
    ),
    partial: Type.Boolean({ description: "Something of it could not be read." }),
  },
  { $id: "MonitorStats" },
);
export type MonitorStats = Static<typeof MonitorStats>;

export const BUCKET_MIN_SEC = 60;
export const TimelineParameters = Type.Object({
  from: Type.Optional(Type.String({ format: "date-time", description: "A day before `to` when absent." })),
  to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
  bucketSec: Type.Optional(
    Type.Integer({
      minimum: BUCKET_MIN_SEC,
      maximum: 7 * 86_400,
      description: "Chosen by the length of the time when absent; there are 1000 buckets at most.",
      examples: [900],
    }),
  ),
});
export type TimelineParameters = Static<typeof TimelineParameters>;

const Bucket = Type.Object(
  {
    start: Time,
    status: Type.Union([Type.Enum(["up", "degraded", "down", "paused", "unknown"]), Type.Null()], {
      description: "The worst there was in it; null where nothing is known.",
    }),
    uptimePercent: Percent,
    downtimeSec: Seconds("Outside of maintenance."),
    checks: Type.Union([Count, Type.Null()]),
    avgResponseMs: Type.Union([Milliseconds, Type.Null()]),
  },
  { $id: "MonitorTimelineBucket" },
);
export type Bucket = Static<typeof Bucket>;

export const Timeline = Type.Object(
  {
    buckets: Type.Array(Bucket, { description: "Oldest first, without gaps." }),
    bucketSec: Type.Integer({ examples: [900] }),
    partial: Type.Boolean({ description: "Something of it could not be read." }),
  },
  { $id: "MonitorTimeline" },
);
export type Timeline = Static<typeof Timeline>;
