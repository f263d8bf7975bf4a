import type { Mutant } from "../mutant.ts";

const CHANGE = ["test/changes/changes.test.ts"];
const DELIVERY = ["test/changes/event-delivery.test.ts"];

/** Changes of state, whoever makes them, and the events that tell of them. */
export const CHANGES: readonly Mutant[] = [
  {
    name: "a call may leave no row in the audit log",
    file: "src/changes/recorded-change.ts",
    find: "if (this.records.length > 0 || !isCaller(this.actor)) return;",
    replace: "return;",
    tests: CHANGE,
  },
  {
    name: "a rule acts in the audit log as nobody",
    file: "src/changes/actor.ts",
    find: "email: `rule:${actor.id}`",
    replace: 'email: ""',
    tests: CHANGE,
  },
  {
    name: "events are written in a transaction of their own",
    file: "src/changes/events/event-store.ts",
    find: `  await tx\`
    WITH written AS (`,
    replace: `  await tx\`COMMIT\`.simple();
  await tx\`
    WITH written AS (`,
    tests: CHANGE,
  },
  {
    name: "audit rows of several organisations are written in the order in which they come",
    file: "src/changes/recorded-change.ts",
    find: ".sort((a, b) => a - b)",
    replace: "",
    tests: CHANGE,
  },
  {
    name: "the payload of an event has no bound",
    file: "src/changes/events/event-kind.ts",
    find: "Buffer.byteLength(text) > PAYLOAD_MAX_BYTES",
    replace: "text.length > PAYLOAD_MAX_BYTES",
    tests: CHANGE,
  },
  {
    name: "events get their ids before those that commit first",
    file: "src/changes/recorded-change.ts",
    find: "      lockEvents(tx, organizationId),\n",
    replace: "",
    tests: [...CHANGE, ...DELIVERY],
  },
  {
    name: "an event does not wait for the one of its subject before it",
    file: "src/changes/events/event-store.ts",
    find: "AND earlier.subject = written.subject AND earlier.set_aside_at IS NULL LIMIT 1)",
    replace: "AND earlier.subject = written.subject AND earlier.set_aside_at IS NOT NULL LIMIT 1)",
    tests: [...CHANGE, ...DELIVERY],
  },
  {
    name: "an event that was set aside holds up its subject for ever",
    file: "src/changes/events/event-store.ts",
    find: "AND earlier.subject = written.subject AND earlier.set_aside_at IS NULL LIMIT 1)",
    replace: "AND earlier.subject = written.subject LIMIT 1)",
    tests: DELIVERY,
  },
  {
    name: "a delivery leaves the next one of its subject waiting",
    file: "src/changes/events/delivery-claims.ts",
    find: "due_at = clock_timestamp() WHERE id IN (SELECT id FROM next)",
    replace: "due_at = due_at WHERE id IN (SELECT id FROM next)",
    tests: DELIVERY,
  },
  {
    name: "a delivery that is set aside leaves those behind it waiting",
    file: "src/changes/events/delivery-claims.ts",
    find: `    await lockEvents(tx, claimed.organizationId);
    await makeNextDue(tx, claimed);`,
    replace: "",
    tests: DELIVERY,
  },
  {
    name: "an overtaken attempt is carried out",
    file: "src/changes/events/delivery-claims.ts",
    find: "if (!(await lockIfOurs(tx, claimed))) return null;",
    replace: "await lockIfOurs(tx, claimed);",
    tests: DELIVERY,
  },
  {
    name: "a claim holds for no time",
    file: "src/changes/events/delivery-claims.ts",
    find: "    max,\n    leaseMs,\n",
    replace: "    max,\n    leaseMs: leaseMs * 0,\n",
    tests: DELIVERY,
  },
  {
    name: "what this server does not know is claimed",
    file: "src/changes/events/delivery-claims.ts",
    find: "due_at <= now() AND subscriber = ANY(${[...subscribers]}::text[])",
    replace: "due_at <= now() AND cardinality(${[...subscribers]}::text[]) > 0",
    tests: DELIVERY,
  },
  {
    name: "one organisation takes every place",
    file: "src/changes/events/delivery-claims.ts",
    find: "WHERE ready.place + coalesce(busy.running, 0) <= ${maxRunningOfOne}",
    replace: "WHERE ready.place <= ${maxRunningOfOne}",
    tests: DELIVERY,
  },
  {
    name: "a poisoned event is tried for ever",
    file: "src/changes/events/event-delivery.ts",
    find: "if (attempt >= DELIVERY_ATTEMPTS_MAX && !isUncounted)",
    replace: "if (attempt > DELIVERY_ATTEMPTS_MAX && !isUncounted)",
    tests: DELIVERY,
  },
  {
    name: "events are forgotten that somebody is still to be told of",
    file: "src/changes/events/event-store.ts",
    find: "WHERE event_id = events.id AND set_aside_at IS NULL)",
    replace: "WHERE event_id = events.id AND set_aside_at < happened_at)",
    tests: DELIVERY,
  },
];
