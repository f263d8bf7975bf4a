import { Type } from "typebox";
import { defineEvent } from "../../changes/events/event-kind.ts";

/** What a step of an escalation did; the subject is that of the incident, `incident:<id>`. */
export const stepTaken = defineEvent(
  "escalation.step-taken",
  Type.Object({
    incidentId: Type.Integer(),
    /** In words, for the timeline. */
    summary: Type.String({ minLength: 1, maxLength: 1000 }),
  }),
);
