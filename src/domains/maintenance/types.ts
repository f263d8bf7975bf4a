import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId, storedTime } from "../../http/stored-values.ts";

const moment = (description: string, example: string) => storedTime({ description, examples: [example] });

export const {
  create: CreateWindowBody,
  update: UpdateWindowBody,
  record: MaintenanceWindow,
} = recordSchemas({
  name: "MaintenanceWindow",
  required: {
    startsAt: moment("When it begins.", "2026-03-07T22:00:00Z"),
    endsAt: moment("When it is over: this moment is no part of it any more.", "2026-03-08T02:00:00Z"),
  },
  optional: {
    monitorId: recordId({
      description: "The monitor that it is about; without one it is about all of them.",
      examples: [17],
    }),
    title: Type.String({ minLength: 1, maxLength: 255, examples: ["New database servers"] }),
  },
});
export type CreateWindowBody = Static<typeof CreateWindowBody>;
export type UpdateWindowBody = Static<typeof UpdateWindowBody>;
export type MaintenanceWindow = Static<typeof MaintenanceWindow>;
