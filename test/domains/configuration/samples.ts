import type { Organization, Resources } from "./configuration-server.ts";

export const MONITOR = { url: "https://example.org/health", type: "https", intervalSec: 60, timeoutMs: 5000 };
/** A record of every kind, and references between them. */
export const whole = ({ email }: Organization): Resources => ({
  monitors: {
    "api-eu": {
      ...{ name: "API Europe", ...MONITOR, tags: ["eu"] },
      escalationPolicyId: { ref: "escalation-policies/primary" },
      alertWebhookUrl: { secret: { value: "https://hooks.example.org/s3cret" } },
    },
    "api-us": {
      name: "API America",
      ...MONITOR,
      headers: { authorization: { secret: { value: "Bearer x" } } },
    },
  },
  "escalation-policies": {
    primary: {
      name: "Primary",
      steps: [
        { type: "schedule", delaySec: 0, scheduleId: { ref: "on-call-schedules/first" } },
        { type: "user", delaySec: 600, userId: email },
      ],
    },
  },
  "on-call-schedules": {
    first: {
      ...{ name: "First line", timezone: "Europe/Berlin" },
      rotations: [{ userId: email, startsAt: "2030-01-01T09:00:00Z", endsAt: "2030-01-08T09:00:00Z" }],
    },
  },
  "log-alerts": {
    payments: { name: "Payments fail", query: "payment failed", threshold: 5, groupBy: ["service"] },
  },
  "saved-searches": { failed: { name: "Failed", query: "ErrorsOf('shop')", rangeMinutes: 60 } },
  "kql-functions": {
    a: { name: "ErrorsOf", parameters: "name: string", body: "Named(name) | where level == 'error'" },
    b: { name: "Named", parameters: "name: string", body: "logs | where service == name" },
  },
  "maintenance-windows": {
    move: {
      ...{ title: "Move", startsAt: "2030-03-07T22:00:00+01:00", endsAt: "2030-03-08T02:00:00Z" },
      monitorId: { ref: "monitors/api-eu" },
    },
  },
  "status-pages": {
    public: {
      ...{ name: "Acme", slug: `acme-${email.replace(/[^a-z0-9]/g, "-").slice(0, 40)}` },
      monitorIds: [{ ref: "monitors/api-us" }, { ref: "monitors/api-eu" }],
      groups: [{ name: "APIs", monitorIds: [{ ref: "monitors/api-eu" }] }],
      publicNames: [{ monitorId: { ref: "monitors/api-eu" }, name: "Europe" }],
      theme: { days: 30 },
    },
  },
  "log-metrics": { fails: { name: "Failed payments", query: "payment failed" } },
  "metric-alerts": { many: { name: "Many", metricName: "Failed payments", threshold: 0.1 } },
  "correlation-rules": {
    guess: {
      ...{ name: "Guessed", kind: "sequence", joinField: "host" },
      steps: [{ kql: "message has 'Failed'" }, { kql: "message has 'Accepted'" }],
      alertChatAUrl: { secret: { value: "https://chat.example.org/x" } },
    },
  },
  "ingest-sources": {
    billing: { sourceKey: "billing", name: "Billing", mapping: { timestamp: { from: "time" } } },
  },
  "ingest-rules": { cards: { name: "Cards", action: "mask", patterns: ["card"] } },
  assets: { web: { ip: "192.0.2.10", hostname: "web-1", tags: ["web"] } },
  identities: { sam: { principal: "Sam@example.com", aliases: ["sam"] } },
  iocs: { evil: { type: "domain", value: "Evil[.]example", severity: "high" } },
  "ioc-feeds": { botnets: { name: "Botnets", url: "https://feeds.example.org/b.csv", format: "csv" } },
  "ioc-allow-list": { resolver: { type: "ip", value: "192.0.2.53", note: "Ours" } },
  retention: {
    logs: {
      days: 90,
      rules: [
        { level: "debug", days: 7 },
        { service: "shop", days: 0 },
      ],
    },
  },
  "model-prices": { list: { prices: { "small-model": { inputPerMillion: 0.5, outputPerMillion: 1.5 } } } },
  "alert-channels": {
    everyone: {
      alertEmail: "ops@example.org",
      alertWebhookUrl: { secret: { value: "https://hooks.example.org/d3fault" } },
      templates: [
        { name: "push", url: { secret: { value: "https://push.example.org/t" } }, body: "{{title}}" },
      ],
      escalationPolicyId: { ref: "escalation-policies/primary" },
    },
  },
});
