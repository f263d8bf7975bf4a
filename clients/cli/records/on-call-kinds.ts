import type { ApiClient } from "../../api/client.ts";
import type { JsonRecord } from "../../api/json.ts";
import { recordNumber } from "./record-ids.ts";
import { type RecordKind, wholeList } from "./record-kind.ts";

/** `obs oncall` and what is below it: lists of their own names. */
export const ON_CALL_KINDS: readonly RecordKind[] = [
  {
    command: "now",
    about: "who is on call, by schedule",
    columns: [
      { header: "id", at: "id", isRigid: true },
      { header: "schedule", at: "name" },
      { header: "who", at: "who" },
      { header: "until", at: "until", isRigid: true },
    ],
    list: onCallNow,
  },
  {
    command: "schedules",
    about: "schedules, and with show the turns of one",
    columns: [
      { header: "id", at: "id", isRigid: true },
      { header: "name", at: "name" },
      { header: "zone", at: "timezone" },
      { header: "description", at: "description" },
    ],
    list: (api) => wholeList(api.call("GET /api/v1/on-call/schedules")),
    show: (api, id) => api.call("GET /api/v1/on-call/schedules/:id", { params: { id: recordNumber(id) } }),
  },
  {
    command: "policies",
    about: "escalation policies",
    columns: [
      { header: "id", at: "id", isRigid: true },
      { header: "name", at: "name" },
      { header: "repeat", at: "repeat", isRigid: true, isNumber: true },
      { header: "steps", at: "steps" },
    ],
    list: (api) => wholeList(api.call("GET /api/v1/escalation-policies")),
    show: (api, id) => api.call("GET /api/v1/escalation-policies/:id", { params: { id: recordNumber(id) } }),
  },
  {
    command: "gaps",
    about: "times of the next weeks in which nobody is on call",
    columns: [
      { header: "schedule", at: "scheduleId", isRigid: true },
      { header: "from", at: "from", isRigid: true },
      { header: "to", at: "to", isRigid: true },
    ],
    list: (api) =>
      wholeList(api.call("GET /api/v1/on-call/coverage", { query: {} }).then(({ gaps }) => gaps)),
  },
];

async function* onCallNow(api: ApiClient): AsyncGenerator<readonly JsonRecord[]> {
  for (const { id } of await api.call("GET /api/v1/on-call/schedules")) {
    const { name, currentOnCallUser, rotations } = await api.call("GET /api/v1/on-call/schedules/:id", {
      params: { id },
    });
    const turn = rotations.find(({ startsAt, endsAt }) => {
      const now = Date.now();
      return Date.parse(startsAt) <= now && now < Date.parse(endsAt);
    });
    const until = currentOnCallUser === null ? null : (turn?.endsAt ?? null);
    yield [{ id, name, who: currentOnCallUser?.email ?? "nobody", until }];
  }
}
