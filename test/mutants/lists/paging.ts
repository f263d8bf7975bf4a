import type { Mutant } from "../mutant.ts";

const STEPS = ["test/domains/escalation/next.test.ts"];
const ESCALATIONS = ["test/domains/escalation"];
const SENDER = ["test/notify/deliveries"];
const CHANNELS = ["test/notify/channels"];
const ON_CALL = ["test/domains/on-call/on-call.test.ts"];
const NEXT = "src/domains/escalation/next.ts";
const STORE = "src/domains/escalation/escalation-store.ts";
const LOOP = "src/domains/escalation/escalations.ts";
const DELIVERIES = "src/notify/deliveries/delivery-store.ts";

/** Where a page would be lost, doubled, late, or read by others. */
export const PAGING: readonly Mutant[] = [
  {
    name: "whoever is paged in a later round has no time to answer",
    file: NEXT,
    find: "userId === null && cycle === 0 ? now",
    replace: "userId === null ? now",
    tests: STEPS,
  },
  {
    name: "a step that reaches nobody keeps the next one waiting",
    file: NEXT,
    find: "userId === null && cycle === 0 ? now : dueAt(policy, step + 1, now)",
    replace: "dueAt(policy, step + 1, now)",
    tests: STEPS,
  },
  {
    name: "a policy goes round once less",
    file: NEXT,
    find: "if (cycle < policy.repeat)",
    replace: "if (cycle + 1 < policy.repeat)",
    tests: STEPS,
  },
  {
    name: "steps are due by the clock of the server",
    file: STORE,
    find: ": fromNow(tx, nextAt - nowMs)}",
    replace: ": new Date(nextAt)}",
    tests: ESCALATIONS,
  },
  {
    name: "the first step is due by the clock of the server",
    file: STORE,
    find: "${fromNow(tx, nextAt - nowMs)}, ${new Date(nowMs)})",
    replace: "${new Date(nextAt)}, ${new Date(nowMs)})",
    tests: ESCALATIONS,
  },
  {
    name: "an incident that comes back is escalated twice for one return",
    file: STORE,
    find: "ON CONFLICT (incident_id, run) DO NOTHING",
    replace: "ON CONFLICT (incident_id, run) DO UPDATE SET step = 0",
    tests: ESCALATIONS,
  },
  {
    name: "a step is taken that another instance has taken",
    file: STORE,
    find: "      AND state = 'running' AND next_at <= now()\n    FOR UPDATE SKIP LOCKED",
    replace: "    FOR UPDATE SKIP LOCKED",
    // The others take it again and again.
    tests: ["test/domains/escalation/taken-steps.test.ts"],
  },
  {
    name: "people are paged for what somebody has answered",
    file: LOOP,
    find: "else await this.end(change, incidentId, incident.needsNobody);",
    replace: "else await this.#take(change, due, incident, locked);",
    tests: ESCALATIONS,
  },
  {
    name: "pages that wait are sent after somebody answered",
    file: LOOP,
    find: "await supersede(tx, organizationId, { incidentId, channels: EVERY_CHANNEL, priority: 0 });",
    replace: "",
    tests: ESCALATIONS,
  },
  {
    name: "nobody hears that nobody answered",
    file: LOOP,
    find: "if (isLast) await this.#tellOwners(change, due, incident);\n    else",
    replace: "if (!isLast)",
    tests: ESCALATIONS,
  },
  {
    name: "the second round pages nobody, for its pages are those of the first",
    file: LOOP,
    find: "`page:${incidentId}:${run}:${cycle}:${step}:${userId}`",
    replace: "`page:${incidentId}:${run}:${step}:${userId}`",
    tests: ESCALATIONS,
  },
  {
    name: "an incident that comes back pages nobody, for its pages are those of the first time",
    file: LOOP,
    find: "`page:${incidentId}:${run}:${cycle}:${step}:${userId}`",
    replace: "`page:${incidentId}:${cycle}:${step}:${userId}`",
    tests: ESCALATIONS,
  },
  {
    name: "a step that fails holds up every other one",
    file: LOOP,
    find: "if (delayMs === null) continue;",
    replace: "if (delayMs === null) continue;\n      if (delayMs === PUT_OFF_MS) return;",
    tests: ESCALATIONS,
  },
  {
    name: "a policy that is a default is deleted or fails",
    file: "src/domains/escalation/store.ts",
    find: "SELECT 'the default of the organisation' FROM alert_defaults\n    WHERE organization_id = ${organizationId}",
    replace:
      "SELECT 'the default of the organisation' FROM alert_defaults\n    WHERE false AND organization_id = ${organizationId}",
    tests: ON_CALL,
  },
  {
    name: "a shift under way has another name in each answer",
    file: "src/domains/on-call/calendar.ts",
    find: "const from = Math.min(range.from, ...(await shown(range.from)).map(({ startsAt }) => startsAt));",
    replace: "const from = range.from;",
    tests: ON_CALL,
  },
  {
    name: "a page waits for a notice to the same receiver",
    file: "src/notify/deliveries/take-due.ts",
    find: "AND earlier.priority <= d.priority AND earlier.id < d.id)",
    replace: "AND earlier.id < d.id)",
    tests: SENDER,
  },
  {
    name: "while a receiver with a rate is told something nobody else is",
    file: "src/notify/deliveries/take-due.ts",
    find: 'const rated = ratedTargets.map((hash) => Buffer.from(hash).toString("hex"));',
    replace: "const rated = [...ratedTargets];",
    tests: SENDER,
  },
  {
    name: "a receiver with a rate is told more than one thing at a time",
    file: "src/notify/deliveries/take-due.ts",
    find: "priority = 0 OR NOT (encode(",
    replace: "true OR NOT (encode(",
    tests: SENDER,
  },
  {
    name: "a receiver is told the end before the beginning",
    file: "src/notify/deliveries/take-due.ts",
    find: "AND earlier.id < d.id)",
    replace: "AND earlier.id < d.id AND earlier.id < 0)",
    tests: SENDER,
  },
  {
    name: "who is being told when it ends never hears of the end",
    file: DELIVERIES,
    find: " OR (state = 'superseded' AND claim_id IS NOT NULL)",
    replace: "",
    tests: SENDER,
  },
  {
    name: "who never heard of it hears of the end",
    file: DELIVERIES,
    find: "(state = 'superseded' AND claim_id IS NOT NULL)",
    replace: "state = 'superseded'",
    tests: SENDER,
  },
  {
    name: "pages of people are gathered with other messages",
    file: "src/notify/deliveries/limits.ts",
    find: "return delivery.priority === 0 ? null : RATES[delivery.channel];",
    replace: "return RATES[delivery.channel];",
    tests: SENDER,
  },
  {
    name: "a sender that is stopped keeps what it could not tell",
    file: "src/notify/deliveries/delivery-sender.ts",
    find: "for (const delivery of deliveries) await askPostgres(() => DELIVERIES.giveBack(sql, delivery));",
    replace: "",
    tests: SENDER,
  },
  {
    name: "a webhook has another id at each attempt",
    file: "src/notify/deliveries/delivery-sender.ts",
    find: "id: `msg_${first.id}`",
    replace: "id: `msg_${first.claim}`",
    tests: SENDER,
  },
  {
    name: "a title adds fields to a form",
    file: "src/notify/channels/template.ts",
    find: "/x-www-form-urlencoded/i.test(contentType) ? component",
    replace: "false ? component",
    tests: CHANNELS,
  },
  {
    name: "a title mentions people in a chat",
    file: "src/notify/channels/chat-a.ts",
    find: '.replaceAll("<", "&lt;")',
    replace: "",
    tests: CHANNELS,
  },
  {
    name: "a contact method that cannot be opened keeps its person from every page",
    file: "src/notify/people.ts",
    find: "      return [];\n    }\n  });",
    replace: "      throw error;\n    }\n  });",
    tests: ESCALATIONS,
  },
];
