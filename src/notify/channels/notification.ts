import { type Static, Type } from "typebox";

const NullableText = Type.Union([Type.String(), Type.Null()]);

/**
 * What is told, made once for every receiver. Texts of people and of senders are in it as they are; each channel escapes
 * them as its receivers read them.
 */
export const Notification = Type.Object({
  /** What a webhook says it is, as `incident.opened`. */
  type: Type.String(),
  /** Whether something is wrong, or is over, or is only said. */
  tone: Type.Enum(["problem", "answered", "recovery", "note"]),
  /** ISO-8601: when it happened. */
  at: Type.String(),
  severity: Type.Enum(["low", "medium", "high", "critical"]),
  /** One line, and what there is to say besides, a line each. */
  title: Type.String(),
  lines: Type.Array(Type.String()),
  incidentId: Type.Union([Type.Integer(), Type.Null()]),
  /** As the API shows it. */
  incident: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  /** What was written into its timeline, as the API shows it; absent where nothing was. */
  update: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  monitor: Type.Union([Type.Object({ id: Type.Integer(), name: Type.String() }), Type.Null()]),
  /** Where more of it is to be seen. */
  link: NullableText,
  /** Where its reader says that they take care of it. */
  acknowledgeLink: NullableText,
});
export type Notification = Static<typeof Notification>;
