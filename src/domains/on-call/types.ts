import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId, storedTime } from "../../http/stored-values.ts";
import { TURN_USERS_MAX } from "../../on-call/limits.ts";

const Time = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-03-02T09:00:00Z"] });
const StoredTime = (description: string) => storedTime({ description, examples: ["2026-03-02T09:00:00Z"] });
const UserId = recordId({ examples: [12] });
const closed = { additionalProperties: false };

const base = recordSchemas({
  name: "OnCallSchedule",
  required: { name: Type.String({ minLength: 1, maxLength: 255, examples: ["Shop, first line"] }) },
  optional: { description: Type.String({ maxLength: 2000, examples: ["Whoever looks after the shop"] }) },
});
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "As the tz database names it; UTC by default.",
  examples: ["Europe/Berlin"],
});

export const CreateScheduleBody = Type.Object(
  { ...base.create.properties, timezone: Type.Optional(timezone) },
  { $id: "CreateOnCallSchedule", ...closed },
);
export type CreateScheduleBody = Static<typeof CreateScheduleBody>;
export const UpdateScheduleBody = Type.Object(
  { ...base.update.properties, timezone: Type.Optional(timezone) },
  { $id: "UpdateOnCallSchedule", ...closed },
);
export type UpdateScheduleBody = Static<typeof UpdateScheduleBody>;
export const Schedule = Type.Object({ ...base.record.properties, timezone }, { $id: "OnCallSchedule" });
export type Schedule = Static<typeof Schedule>;

export const RotationRecord = Type.Object(
  {
    id: Type.Integer({ examples: [40] }),
    scheduleId: Type.Integer({ examples: [3] }),
    userId: UserId,
    startsAt: Time("The turn is half-open: it begins here, and"),
    endsAt: Time("here it is over."),
    overrideUserId: Type.Union([UserId, Type.Null()]),
    overrideStartsAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    overrideEndsAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    createdAt: Time("When it was made."),
    updatedAt: Time("When it was last changed."),
  },
  { $id: "OnCallRotation" },
);
export type RotationRecord = Static<typeof RotationRecord>;

const turn = {
  userId: UserId,
  startsAt: StoredTime("The turn is half-open: it begins here, and"),
  endsAt: StoredTime("here it is over."),
};
const override = {
  overrideUserId: Type.Optional(
    Type.Union([UserId, Type.Null()], {
      description: "Who stands in: in the whole turn, or from `overrideStartsAt` until `overrideEndsAt`.",
    }),
  ),
  overrideStartsAt: Type.Optional(Type.Union([storedTime(), Type.Null()])),
  overrideEndsAt: Type.Optional(Type.Union([storedTime(), Type.Null()])),
};

export const CreateRotationBody = Type.Object(
  { ...turn, ...override },
  {
    $id: "CreateOnCallRotation",
    ...closed,
    examples: [{ userId: 12, startsAt: "2026-03-02T09:00:00Z", endsAt: "2026-03-09T09:00:00Z" }],
  },
);
export type CreateRotationBody = Static<typeof CreateRotationBody>;
export const UpdateRotationBody = Type.Object(
  {
    userId: Type.Optional(turn.userId),
    startsAt: Type.Optional(turn.startsAt),
    endsAt: Type.Optional(turn.endsAt),
    ...override,
  },
  { $id: "UpdateOnCallRotation", ...closed, examples: [{ overrideUserId: 15 }] },
);
export type UpdateRotationBody = Static<typeof UpdateRotationBody>;

export const GenerateRotationsBody = Type.Object(
  {
    userIds: Type.Array(UserId, {
      minItems: 1,
      maxItems: TURN_USERS_MAX,
      description: "In the order in which they take their turns.",
      examples: [[12, 15]],
    }),
    everyDays: Type.Integer({ minimum: 1, maximum: 365, description: "Days of a turn.", examples: [7] }),
    handoff: Type.String({
      pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
      description: "When they take over from each other, in the zone of the schedule.",
      examples: ["09:00"],
    }),
    from: StoredTime("Where the first turn begins."),
    until: StoredTime("Where the last turn ends."),
  },
  { $id: "GenerateOnCallRotations", ...closed },
);
export type GenerateRotationsBody = Static<typeof GenerateRotationsBody>;

const OnCallPerson = Type.Object(
  { id: UserId, email: Type.String({ examples: ["ana@example.com"] }) },
  { $id: "OnCallPerson" },
);

export const ScheduleWithRotations = Type.Object(
  {
    ...Schedule.properties,
    rotations: Type.Array(RotationRecord, { description: "Those that have not ended, by their start." }),
    currentOnCallUser: Type.Union([OnCallPerson, Type.Null()], {
      description: "Null when nobody is on call.",
    }),
    hasCalendar: Type.Boolean({ description: "Whether calendars can subscribe to it." }),
  },
  { $id: "OnCallScheduleWithRotations" },
);
export type ScheduleWithRotations = Static<typeof ScheduleWithRotations>;

export const CoverageParameters = Type.Object({
  from: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
  to: Type.Optional(Type.String({ format: "date-time", description: "28 days after `from` when absent." })),
});

export const Coverage = Type.Object(
  {
    gaps: Type.Array(
      Type.Object({
        scheduleId: Type.Integer(),
        from: Type.String({ format: "date-time" }),
        to: Type.String({ format: "date-time" }),
      }),
      { description: "Stretches in which nobody is on call, by schedule and time." },
    ),
    absent: Type.Array(
      Type.Object({ scheduleId: Type.Integer(), rotationId: Type.Integer(), userId: Type.Integer() }),
      { description: "Turns of people who do not belong to the organisation any more." },
    ),
    truncated: Type.Boolean({ description: "There are more gaps than are listed." }),
  },
  { $id: "OnCallCoverage" },
);
export type Coverage = Static<typeof Coverage>;

export const CalendarAddress = Type.Object(
  {
    url: Type.String({
      description:
        "What a calendar subscribes to. Whoever has it sees who is on call; it is shown this once.",
    }),
  },
  { $id: "OnCallCalendarAddress" },
);
