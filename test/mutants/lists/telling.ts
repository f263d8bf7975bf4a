import type { Mutant } from "../mutant.ts";

const SILENCES = ["test/domains/incidents/silences.test.ts"];
const RECEIVED = ["test/domains/received-alerts/received-alerts.test.ts"];
const SUBSCRIBERS = ["test/domains/status-pages/subscribers.test.ts"];
const WEBHOOKS = ["test/domains/status-pages/webhooks.test.ts"];
const ATTACKS = ["test/domains/status-pages/attacks.test.ts"];
const METRICS = ["test/domains/log-metrics/log-metrics.test.ts"];

/** What is told to whom: silences, alerts of others, subscribers of status pages, series. */
export const TELLING: readonly Mutant[] = [
  {
    name: "a silence that is over holds on",
    file: "src/problems/silences.ts",
    find: "AND starts_at <= ${now} AND ends_at > ${now}",
    replace: "AND starts_at <= ${now}",
    tests: SILENCES,
  },
  {
    name: "a silence of one rule holds for all of them",
    file: "src/problems/silences.ts",
    find: '(ruleId === null || (source?.kind === "rule" && source.id === ruleId)) &&',
    replace: '(ruleId === null || source?.kind === "rule") &&',
    tests: SILENCES,
  },
  {
    name: "a silence of one group holds for those that share a value",
    file: "src/problems/silences.ts",
    find: ".every(([field, value]) => values.get(field) === value)",
    replace: ".some(([field, value]) => values.get(field) === value)",
    tests: SILENCES,
  },
  {
    name: "a silence is of a rule that is not there",
    file: "src/domains/silences/routes.ts",
    find: "if (!(await has(TABLES[ruleKind], ruleId)))",
    replace: "if ((await has(TABLES[ruleKind], ruleId)) === null)",
    tests: SILENCES,
  },
  {
    name: "what a silence held back is told again in every round",
    file: "src/domains/incidents/unsilencing.ts",
    find: "const changed = await updateIncident(tx, organizationId, id, { silenceId }, nowMs);",
    replace: "const changed = await updateIncident(tx, organizationId, id, {}, nowMs);",
    tests: SILENCES,
  },
  {
    name: "what a silence held back is told though it is over",
    file: "src/domains/incidents/unsilencing.ts",
    find: "i.silence_id IS NOT NULL AND i.resolved_at IS NULL",
    replace: "i.silence_id IS NULL AND i.resolved_at IS NULL",
    tests: SILENCES,
  },
  {
    name: "whoever answers for an incident is told when its silence is over",
    file: "src/domains/incidents/unsilencing.ts",
    find: "if (silenceId !== null || acknowledgedAt !== null) return;",
    replace: "if (silenceId !== null) return;",
    tests: SILENCES,
  },
  {
    name: "an alert of another receiver goes on with an incident of this one",
    file: "src/domains/received-alerts/receive.ts",
    find: "return `alert:${id}:${isPlain",
    replace: "return `alert:${id > 0}:${isPlain",
    tests: RECEIVED,
  },
  {
    name: "a receiver opens any number of incidents",
    file: "src/domains/received-alerts/receive.ts",
    find: "if (opening.length > 0 && open.size + opening.length > OPEN_MAX)",
    replace: "if (opening.length > OPEN_MAX)",
    tests: RECEIVED,
  },
  {
    name: "a receiver takes any number of bodies",
    file: "src/domains/received-alerts/receive.ts",
    find: "if (!allowed)",
    replace: "if (!allowed && id < 0)",
    tests: RECEIVED,
  },
  {
    name: "a token that was replaced still opens its receiver",
    file: "src/domains/received-alerts/store.ts",
    find: "UPDATE alert_receivers SET token_hash = ${tokenHash}, updated_at",
    replace:
      "UPDATE alert_receivers SET token_hash = CASE WHEN ${tokenHash}::bytea IS NULL THEN NULL ELSE token_hash END, updated_at",
    tests: RECEIVED,
  },
  {
    name: "with a receiver the incidents of others end",
    file: "src/domains/received-alerts/store.ts",
    find: 'AND source @> ${JSON.stringify({ kind: "alert", id })}::text::jsonb',
    replace: 'AND source @> ${JSON.stringify({ kind: "alert" })}::text::jsonb AND ${id} > 0',
    tests: RECEIVED,
  },
  {
    name: "a subscription is confirmed by a link of long ago",
    file: "src/domains/status-pages/subscribers/store.ts",
    find: "WHERE confirm_token_hash = ${tokenHash} AND confirmation_sent_at > ${new Date(nowMs - PENDING_MS)}\n    RETURNING",
    replace: "WHERE confirm_token_hash = ${tokenHash}\n    RETURNING",
    tests: [...SUBSCRIBERS, ...ATTACKS],
  },
  {
    name: "whoever asks again changes a subscription that is confirmed",
    file: "src/domains/status-pages/subscribers/store.ts",
    find: "WHERE status_page_subscribers.confirmed_at IS NULL`;",
    replace: "WHERE status_page_subscribers.id > 0`;",
    tests: [...SUBSCRIBERS, ...WEBHOOKS, ...ATTACKS],
  },
  {
    name: "a plus sign makes another mailbox",
    file: "src/domains/status-pages/subscribers/store.ts",
    find: "const mailbox = mailboxOf(email);",
    replace: "const mailbox = email;",
    tests: ATTACKS,
  },
  {
    name: "an address is mailed as often as somebody asks",
    file: "src/domains/status-pages/subscribers/store.ts",
    find: "if (nowMs < (await mayBeAskedFrom(tx, mailbox)) || !(await hasPlace(tx, wanted, nowMs)))",
    replace: "if (!(await hasPlace(tx, wanted, nowMs)))",
    tests: [...SUBSCRIBERS, ...ATTACKS],
  },
  {
    name: "a subscription is ended by a link that somebody made up",
    file: "src/domains/status-pages/subscribers/unsubscribe-link.ts",
    find: "given.length === expected.length && timingSafeEqual(given, expected) ? Number(id) : null",
    replace: "given.length === expected.length ? Number(id) : null",
    tests: [...SUBSCRIBERS, ...ATTACKS],
  },
  {
    name: "what is written while subscribers are told is never told",
    file: "src/domains/status-pages/subscribers/notice-store.ts",
    find: "is_due = EXISTS (",
    replace: "is_due = NOT EXISTS (",
    tests: [...SUBSCRIBERS, ...WEBHOOKS],
  },
  {
    name: "what was told to a subscriber is told once more with the next news",
    file: "src/domains/status-pages/subscribers/notice-store.ts",
    find: "attempts = 0, last_update_id = ${lastUpdateId}, last_status",
    replace: "attempts = 0, last_update_id = least(last_update_id, ${lastUpdateId}), last_status",
    tests: [...SUBSCRIBERS, ...WEBHOOKS],
  },
  {
    name: "an endpoint that fails is told for ever",
    file: "src/domains/status-pages/subscribers/notice-store.ts",
    find: "AND (s.failures >= ${FAILURES_MAX} OR ${isForever})",
    replace: "AND ${isForever}",
    tests: WEBHOOKS,
  },
  {
    name: "the webhook of a subscriber opens in a row of another organisation",
    file: "src/domains/status-pages/subscribers/webhooks.ts",
    find: "return `status-page-webhook:${organizationId}`;",
    replace: "return `status-page-webhook:${organizationId > 0}`;",
    tests: WEBHOOKS,
  },
  {
    name: "a metric with another filter goes on with what it counted",
    file: "src/domains/log-metrics/metrics.ts",
    find: "const stays = before !== null && metric.enabled && isSame(before, metric);",
    replace: "const stays = before !== null && metric.enabled;",
    tests: METRICS,
  },
  {
    name: "a series is made of counts whose past is not counted yet",
    file: "src/domains/log-metrics/metrics.ts",
    find: "AND m.id = ${id} AND c.past = 'counted'`,",
    replace: "AND m.id = ${id}`,",
    tests: METRICS,
  },
];
