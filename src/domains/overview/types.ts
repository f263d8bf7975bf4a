import { type Static, Type } from "typebox";

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const DateTime = (description: string) => Type.String({ format: "date-time", description });

const LogCounts = Type.Object(
  {
    from: DateTime("24 hours before `to`."),
    to: DateTime("The moment of the answer; entries of a later time are not counted."),
    total: Count("Entries of that time."),
    byLevel: Type.Object({
      trace: Type.Integer(),
      debug: Type.Integer(),
      info: Type.Integer(),
      warn: Type.Integer(),
      error: Type.Integer(),
      fatal: Type.Integer(),
    }),
    withoutLevel: Count("Entries that have none."),
  },
  { $id: "LogCounts" },
);
export type LogCounts = Static<typeof LogCounts>;

/** What there is at a glance, one property for each kind of thing; more may come. */
export const Overview = Type.Object(
  {
    members: Type.Object({
      total: Count("Members of the organisation."),
      byRole: Type.Object({
        viewer: Type.Integer(),
        member: Type.Integer(),
        admin: Type.Integer(),
        owner: Type.Integer(),
      }),
    }),
    invites: Type.Object({ open: Count("Invites that can still be accepted.") }),
    tokens: Type.Object({
      active: Count("Tokens of all members, neither revoked nor expired."),
      usedLastDay: Count("Those of them that were used in the last 24 hours."),
    }),
    savedSearches: Type.Object({ total: Count("Saved searches.") }),
    tails: Type.Object({ open: Count("Live tail sessions that have not expired.") }),
    monitors: Type.Object({
      total: Count("Monitors, paused ones included."),
      byStatus: Type.Object({
        up: Type.Integer(),
        degraded: Type.Integer(),
        down: Type.Integer(),
        unknown: Count("Not checked yet."),
        paused: Type.Integer(),
      }),
    }),
    logs: Type.Union([LogCounts, Type.Null()], {
      description:
        "Log entries of the last 24 hours; null while the log store does not answer or they are too many.",
    }),
  },
  { $id: "Overview" },
);
export type Overview = Static<typeof Overview>;

/** What Postgres knows of it. */
export type RecordCounts = Omit<Overview, "logs">;
