import { type Static, Type } from "typebox";
import { FEED_INTERVAL_MAX_SEC, FEED_INTERVAL_MIN_SEC } from "../../entities/indicators/limits.ts";
import { SEVERITIES } from "../../problems/events.ts";
import { FILE_FORMATS } from "./read-file.ts";

const required = {
  name: Type.String({ minLength: 1, maxLength: 255, examples: ["Botnets"] }),
  url: Type.String({
    pattern: "^https?://[^\\s]+$",
    maxLength: 2048,
    description: "Asked by the server, and never on its own network.",
    examples: ["https://feeds.example.com/botnets.csv"],
  }),
  format: Type.Enum([...FILE_FORMATS], { examples: ["csv"] }),
};
const defaulted = {
  intervalSec: Type.Integer({
    minimum: FEED_INTERVAL_MIN_SEC,
    maximum: FEED_INTERVAL_MAX_SEC,
    examples: [3600],
  }),
  enabled: Type.Boolean({ examples: [true] }),
};
const severity = Type.Enum([...SEVERITIES], {
  description: "Of indicators of which the feed says none.",
  examples: ["high"],
});
const closed = { additionalProperties: false };

export const CreateFeedBody = Type.Object(
  {
    ...required,
    intervalSec: Type.Optional(defaulted.intervalSec),
    enabled: Type.Optional(defaulted.enabled),
    severity: Type.Optional(severity),
  },
  { $id: "CreateIocFeed", ...closed },
);
export type CreateFeedBody = Static<typeof CreateFeedBody>;

export const UpdateFeedBody = Type.Object(
  {
    name: Type.Optional(required.name),
    url: Type.Optional(required.url),
    format: Type.Optional(required.format),
    intervalSec: Type.Optional(defaulted.intervalSec),
    enabled: Type.Optional(defaulted.enabled),
    severity: Type.Optional(Type.Union([severity, Type.Null()])),
  },
  { $id: "UpdateIocFeed", ...closed },
);
export type UpdateFeedBody = Static<typeof UpdateFeedBody>;

const Time = Type.String({ format: "date-time" });
export const Feed = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    ...required,
    ...defaulted,
    severity: Type.Union([severity, Type.Null()]),
    status: Type.Enum(["new", "ok", "unchanged", "failed"]),
    lastError: Type.Union([Type.String(), Type.Null()]),
    lastFetchAt: Type.Union([Time, Type.Null()]),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: "IocFeed" },
);
