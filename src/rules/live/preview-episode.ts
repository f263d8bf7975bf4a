import { Type } from "typebox";

const Time = Type.String({ format: "date-time" });

/** When somebody would have been told by a rule that is tried. */
export const PreviewEpisode = Type.Object(
  {
    group: Type.Record(Type.String(), Type.String()),
    startedAt: Time,
    endedAt: Time,
    peak: Type.Number(),
    because: Type.String(),
  },
  { $id: "PreviewEpisode" },
);
