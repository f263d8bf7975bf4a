import { Type } from "typebox";
import { defineEvent } from "../../changes/events/event-kind.ts";

/** A membership has ended, by the member or by somebody else; the subject is `member:<user id>`. */
export const memberRemoved = defineEvent(
  "member.removed",
  Type.Object({ userId: Type.Integer() }, { additionalProperties: false }),
);
