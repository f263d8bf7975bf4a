import { ForeignRecord } from "./foreign-record.ts";
import { Imported } from "./imported.ts";

/** What the API of Grafana OnCall answers, by the last part of the path; of shifts by the schedule. */
export interface OnCallExport {
  readonly lists: Readonly<Record<OnCallList, readonly unknown[]>>;
  /** Who is on call when, by the id of the schedule (`/schedules/ID/final_shifts`); absent where nobody asked. */
  readonly finalShifts: ReadonlyMap<string, readonly unknown[]>;
}

export const ONCALL_LISTS = [
  "users",
  "schedules",
  "escalation_chains",
  "escalation_policies",
  "integrations",
] as const;
export type OnCallList = (typeof ONCALL_LISTS)[number];

const SCHEDULES = "on-call-schedules";
const POLICIES = "escalation-policies";
const STEPS_MAX = 10;
const ROTATIONS_MAX = 1000;

/**
 * Schedules and escalation chains as files describe them. A schedule has the turns that OnCall itself worked out for the next
 * weeks, overrides among them: rotations that come again are turns one after the other here.
 */
export function readGrafanaOnCall({ lists, finalShifts }: OnCallExport): Imported {
  const imported = new Imported();
  const emails = new Map(
    lists.users.map((each) => {
      const user = new ForeignRecord(each);
      return [user.text("id"), user.text("email")];
    }),
  );
  const keys = new Map<string, string>();
  for (const each of lists.schedules) addSchedule(new ForeignRecord(each), finalShifts, imported, keys);
  const steps = Map.groupBy(
    lists.escalation_policies.map((each) => new ForeignRecord(each)),
    (step) => step.text("escalation_chain_id"),
  );
  const chains = new Map<string | null, string>();
  for (const each of lists.escalation_chains) {
    const chain = new ForeignRecord(each);
    const id = chain.text("id");
    const own = (steps.get(id) ?? []).toSorted(
      (left, right) => (left.number("position") ?? 0) - (right.number("position") ?? 0),
    );
    const key = addChain(chain.text("name") ?? "policy", own, { imported, emails, keys });
    if (key !== null) chains.set(id, key);
  }
  for (const each of lists.integrations) {
    const integration = new ForeignRecord(each);
    const chain = chains.get(integration.record("default_route").text("escalation_chain_id"));
    const policy = chain === undefined ? "" : `, with the policy ${chain}`;
    imported.leaveOut(
      POLICIES,
      `the integration ${integration.text("name")}, of the type ${integration.text("type")}: POST /alert-receivers makes one${policy}`,
    );
  }
  return imported;
}

function addSchedule(
  schedule: ForeignRecord,
  finalShifts: OnCallExport["finalShifts"],
  imported: Imported,
  keys: Map<string, string>,
): void {
  const id = schedule.text("id") ?? "";
  const name = schedule.text("name") ?? "Schedule";
  const key = imported.keyFor(SCHEDULES, name);
  keys.set(id, key);
  const notes: string[] = [];
  const shifts = finalShifts.get(id);
  if (shifts === undefined) notes.push(`its turns: the export has no final_shifts of ${id}`);
  const turns = (shifts ?? []).flatMap((each) => {
    const shift = new ForeignRecord(each);
    const [email, startsAt, endsAt] = [
      shift.text("user_email"),
      shift.text("shift_start"),
      shift.text("shift_end"),
    ];
    if (email === null || startsAt === null || endsAt === null) {
      notes.push(`a turn of ${shift.text("user_username") ?? "somebody"}, which is not whole`);
      return [];
    }
    return [{ userId: email, startsAt, endsAt }];
  });
  const rotations = turns.toSorted((left, right) => Date.parse(left.startsAt) - Date.parse(right.startsAt));
  const last = rotations.slice(0, ROTATIONS_MAX).at(-1);
  if (last !== undefined) notes.push(`that rotations come again; the turns go on until ${last.endsAt}`);
  schedule.pass("id", "on_call_now", "shifts");
  for (const part of schedule.unread())
    if (!["time_zone", "type"].includes(part)) notes.push(part === "slack" ? "the channel of Slack" : part);
  imported.add(
    SCHEDULES,
    key,
    { name, timezone: schedule.text("time_zone"), rotations: rotations.slice(0, ROTATIONS_MAX) },
    notes,
  );
}

interface Names {
  readonly imported: Imported;
  readonly emails: ReadonlyMap<string | null, string | null>;
  readonly keys: ReadonlyMap<string, string>;
}

/** Waits of a chain are the delays of the steps behind them. */
function addChain(
  name: string,
  steps: readonly ForeignRecord[],
  { imported, emails, keys }: Names,
): string | null {
  const notes: string[] = [];
  const made: Record<string, unknown>[] = [];
  let delaySec = 0;
  let repeat: number | null = null;
  const add = (step: Record<string, unknown>): void => {
    made.push({ ...step, delaySec });
    delaySec = 0;
  };
  const person = (id: string): void => {
    const email = emails.get(id) ?? null;
    if (email === null) notes.push(`the person ${id}, whose address is not known`);
    else add({ type: "user", userId: email });
  };
  for (const step of steps) {
    const type = step.text("type") ?? "";
    if (step.flag("important")) notes.push(`that the step ${type} is important`);
    switch (type) {
      case "wait":
        delaySec += step.number("duration") ?? 0;
        break;
      case "notify_persons":
        for (const id of step.texts("persons_to_notify")) person(id);
        break;
      case "notify_person_next_each_time": {
        const people = step.texts("persons_to_notify_next_each_time");
        notes.push("that one person after the other is told each time; the first is told");
        for (const id of people.slice(0, 1)) person(id);
        break;
      }
      case "notify_on_call_from_schedule": {
        const schedule = keys.get(step.text("notify_on_call_from_schedule") ?? "");
        if (schedule === undefined) notes.push("a step to a schedule that is not in the export");
        else add({ type: "schedule", scheduleId: { ref: `${SCHEDULES}/${schedule}` } });
        break;
      }
      case "repeat_escalation":
        repeat = 5;
        break;
      default:
        notes.push(`a step of the type ${type}`);
    }
  }
  if (made.length > STEPS_MAX) notes.push(`the steps behind the first ${STEPS_MAX}`);
  if (made.length === 0) {
    imported.leaveOut(POLICIES, `the chain ${name}: no step of it reaches anybody`);
    return null;
  }
  const key = imported.keyFor(POLICIES, name);
  imported.add(POLICIES, key, { name, steps: made.slice(0, STEPS_MAX), repeat }, notes);
  return key;
}
