import type { Mutant } from "../mutant.ts";

const PROBLEMS = ["test/domains/incidents/problems.test.ts"];
const PEOPLE = ["test/domains/incidents/people.test.ts"];
const INSTANCES = ["test/domains/incidents/instances.test.ts"];
const ANALYSIS = ["test/domains/incidents/analysis.test.ts"];
const ALERTS = ["test/domains/received-alerts/received-alerts.test.ts"];

/** Where an incident would be lost, doubled, or shown to others. */
export const INCIDENTS: readonly Mutant[] = [
  {
    name: "what ends a problem may be heard before what raised it",
    file: "src/changes/events/event-store.ts",
    find: "CASE WHEN row_number() OVER (PARTITION BY told.subscriber, written.subject ORDER BY written.id) = 1",
    replace: "CASE WHEN true OR",
    tests: ["test/changes/several-kinds.test.ts", ...PROBLEMS],
  },
  {
    name: "an event of a kind that this server does not handle is done with",
    file: "src/changes/events/event-delivery.ts",
    find: "if (handler === undefined) throw new Error(`${name} does not handle ${event.kind}`);",
    replace: "if (handler === undefined) { return true; }",
    tests: ["test/changes/several-kinds.test.ts"],
  },
  {
    name: "long keys that begin alike have one subject",
    file: "src/problems/events.ts",
    find: 'return `problem:${createHash("sha256").update(key).digest("hex")}`;',
    replace: "return key;",
    tests: PROBLEMS,
  },
  {
    name: "a key is not locked while it is looked up",
    file: "src/domains/incidents/problems.ts",
    find: "  await lockKey(tx, organizationId, problem.key);\n",
    replace: "",
    tests: INSTANCES,
  },
  {
    name: "a person reopens without locking the key",
    file: "src/domains/incidents/service.ts",
    find: 'if (typeof key === "string") await lockKey(tx, organizationId, key);',
    replace: "",
    tests: INSTANCES,
  },
  {
    name: "a person reopens beside another incident of the key",
    file: "src/domains/incidents/service.ts",
    find: "if (sourceKey !== null && (await isKeyOpen(tx, organizationId, sourceKey)))",
    replace: 'if (sourceKey === "")',
    tests: PEOPLE,
  },
  {
    name: "the same problem raised again is told again",
    file: "src/domains/incidents/problems.ts",
    find: "if (!isTold && !hasEvidence && !known.isSettling) return;",
    replace: "",
    tests: [...PROBLEMS, ...ALERTS],
  },
  {
    name: "what comes back is another incident",
    file: "src/domains/incidents/recurrence.ts",
    find: 'if (backAtMs - past.resolvedAtMs >= REOPEN_WITHIN_MS) return { kind: "opens" };',
    replace: 'if (backAtMs >= past.resolvedAtMs) return { kind: "opens" };',
    tests: PROBLEMS,
  },
  {
    name: "what a person resolved reopens",
    file: "src/domains/incidents/recurrence.ts",
    find: 'if (past === null || (past.resolution !== "recovered" && past.resolution !== "sender"))',
    replace: "if (past === null)",
    tests: PROBLEMS,
  },
  {
    name: "what reopens stays acknowledged",
    file: "src/domains/incidents/problems.ts",
    find: "      acknowledgedAt: null,\n",
    replace: "",
    tests: PROBLEMS,
  },
  {
    name: "what flaps ends at once and is told each time",
    file: "src/domains/incidents/problems.ts",
    find: "if (known.incident.flapping && saysItIsWell) {",
    replace: "if (known.incident.flapping && !saysItIsWell) {",
    tests: PROBLEMS,
  },
  {
    name: "what flaps and is wrong again ends all the same",
    file: "src/domains/incidents/problems.ts",
    find: "      settleAt: null,\n",
    replace: "",
    tests: PROBLEMS,
  },
  {
    name: "what settled is ended without looking again",
    file: "src/domains/incidents/settling.ts",
    find: "if (known === null || due === undefined) return;",
    replace: "if (known === null || (due === undefined && known.incident.id === 0)) return;",
    tests: INSTANCES,
  },
  {
    name: "an incident may name monitors of others",
    file: "src/domains/incidents/service.ts",
    find: "const unknown = await unknownMonitors(tx, organizationId, monitorIds);",
    replace: "const unknown = await unknownMonitors(tx, organizationId, []);",
    tests: PEOPLE,
  },
  {
    name: "a resolved incident is acknowledged",
    file: "src/domains/incidents/service.ts",
    find: "  if (before.incident.resolvedAt !== null)\n    throw",
    replace: "  if (before.incident.id === 0)\n    throw",
    tests: PEOPLE,
  },
  {
    name: "an analysis shows regions of others",
    file: "src/domains/incidents/analysis/store.ts",
    find: "WHERE organization_id = {organizationId: UInt32} AND monitor_id IN",
    replace: "WHERE monitor_id IN",
    tests: ANALYSIS,
  },
  {
    name: "an analysis shows logs to who may not read them",
    file: "src/domains/incidents/analysis/section.ts",
    find: "if (missing !== null) return { items: [], unavailable: missing };",
    replace: "",
    tests: ANALYSIS,
  },
  {
    name: "a token that was replaced is still good",
    file: "src/domains/received-alerts/receivers.ts",
    find: "await replaceToken(change.tx, change.organizationId, id, hashToken(token));",
    replace: "",
    tests: ALERTS,
  },
  {
    name: "the token of a receiver is stored as it is",
    file: "src/domains/received-alerts/receivers.ts",
    find: "{ ...body, tokenHash: hashToken(token) }",
    replace: "{ ...body, name: token, tokenHash: hashToken(token) }",
    tests: ALERTS,
  },
  {
    name: "alerts of two receivers have one key",
    file: "src/domains/received-alerts/receive.ts",
    find: "return `alert:${id}:${isPlain",
    replace: "return `alert:${id - id}:${isPlain",
    tests: ALERTS,
  },
  {
    name: "a sender opens any number of incidents",
    file: "src/domains/received-alerts/receive.ts",
    find: "open.size + opening.length > OPEN_MAX)",
    replace: "open.size + opening.length > 10 * OPEN_MAX)",
    tests: ALERTS,
  },
  {
    name: "with a receiver its incidents stay open",
    file: "src/domains/received-alerts/receivers.ts",
    find: "await openKeys(change.tx, change.organizationId, id, OPEN_MAX)",
    replace: "await openKeys(change.tx, change.organizationId, id, 0)",
    tests: ALERTS,
  },
  {
    name: "a group ends with the first of its alerts",
    file: "src/domains/received-alerts/payload.ts",
    find: "const isFiring = firing.length > 0;",
    replace: "const isFiring = firing.length === alerts.length;",
    tests: ALERTS,
  },
];
