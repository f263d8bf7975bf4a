import { Type } from "typebox";
import { defineEvent } from "../../../changes/events/event-kind.ts";

const Time = Type.String({ format: "date-time" });

/** Nothing has been found out about a monitor for several of its intervals. Told once, until something is. */
export const monitorUnobserved = defineEvent(
  "monitor.unobserved",
  Type.Object({ monitorId: Type.Integer(), name: Type.String({ maxLength: 255 }), since: Time }),
);

/** What is wrong with a monitor is wrong still, and it is to be said again. */
export const monitorReminder = defineEvent(
  "monitor.reminder",
  Type.Object({
    monitorId: Type.Integer(),
    name: Type.String({ maxLength: 255 }),
    status: Type.Enum(["down", "degraded"]),
    since: Time,
  }),
);
