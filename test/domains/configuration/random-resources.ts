import fc from "fast-check";
import type { Resources } from "./configuration-server.ts";
import { MONITOR } from "./samples.ts";

/** Files that are right, of every kind, with references between their records. `email` is a member's. */
export function randomResources(email: string, slug: string): fc.Arbitrary<Resources> {
  return fc
    .record({ sizes: fc.record({ schedules: size, policies: size, monitors: size }) })
    .chain(({ sizes }) => {
      const of = (kind: string, prefix: string, count: number) =>
        Array.from({ length: count }, (_, n) => ({ ref: `${kind}/${prefix}${n}` }));
      const schedules = of("on-call-schedules", "s", sizes.schedules);
      const policies = of("escalation-policies", "p", sizes.policies);
      const monitors = of("monitors", "m", sizes.monitors);
      const policy = policies.length === 0 ? {} : { escalationPolicyId: fc.constantFrom(...policies) };
      const monitor = monitors.length === 0 ? {} : { monitorId: fc.constantFrom(...monitors) };
      return fc.record({
        "on-call-schedules": keyed("s", sizes.schedules, schedule(email)),
        "escalation-policies": keyed("p", sizes.policies, escalation(email, schedules)),
        monitors: keyed("m", sizes.monitors, some(monitorFields, { ...monitorOptions, ...policy })),
        "maintenance-windows": keyed(
          "w",
          2,
          some({ startsAt: time(1), endsAt: time(2) }, { title: text, ...monitor }),
        ),
        "status-pages": keyed("x", 1, page(slug, monitors)),
        "log-alerts": keyed("l", 3, some({ name: text }, { ...alertOptions, ...policy })),
        "metric-alerts": keyed("t", 2, some(metricAlert, { ...metricAlertOptions, ...policy })),
        "correlation-rules": keyed("c", 2, fc.oneof(sequence, cardinality)),
        "log-metrics": keyed(
          "n",
          2,
          some({ name: text }, { query: word, enabled: fc.boolean(), bucketSec: fc.constantFrom(60, 300) }),
        ),
        "saved-searches": keyed("q", 3, some({ name: text }, { ...searchOptions })),
        "kql-functions": functions,
        "ingest-rules": keyed(
          "r",
          2,
          some(
            { name: text, action: fc.constant("drop") },
            { enabled: fc.boolean(), position: fc.nat(1000) },
          ),
        ),
        "ingest-sources": keyed(
          "i",
          2,
          some(
            { name: text },
            {
              preset: fc.constantFrom("journald"),
              mapping: fc.constant({ fields: { message: { from: "msg" } } }),
            },
          ),
          (fields, n) => ({
            ...fields,
            ...(fields.mapping !== undefined && { preset: undefined }),
            sourceKey: `source-${n}`,
          }),
        ),
        assets: keyed(
          "a",
          3,
          some({}, { hostname: text, tags, criticality: fc.constantFrom("low", "high") }),
          (fields, n) => ({ ...fields, ip: `10.0.0.${n}` }),
        ),
        identities: keyed(
          "d",
          2,
          some({}, { displayName: text, aliases: tags, isInternal: fc.boolean() }),
          (fields, n) => ({ ...fields, principal: `person-${n}` }),
        ),
        iocs: keyed(
          "o",
          2,
          some(
            { type: fc.constant("domain") },
            { description: text, confidence: fc.nat(100), expiresAt: time(5) },
          ),
          (fields, n) => ({ ...fields, value: `evil-${n}.example` }),
        ),
        "ioc-feeds": keyed(
          "e",
          2,
          some(
            { url: fc.constant("https://feeds.example.org/list"), format: fc.constantFrom("csv", "stix") },
            { intervalSec: fc.constantFrom(3600, 7200), enabled: fc.boolean() },
          ),
          (fields, n) => ({ ...fields, name: `Feed ${n}` }),
        ),
        "ioc-allow-list": keyed(
          "k",
          2,
          some({ type: fc.constant("domain") }, { note: text }),
          (fields, n) => ({
            ...fields,
            value: `good-${n}.example`,
          }),
        ),
        retention: keyed("z", 1, some({ days: fc.nat(400) }, { rules: retentionRules })),
        "model-prices": keyed(
          "u",
          1,
          fc.record({ prices: fc.dictionary(word, price, { minKeys: 1, maxKeys: 3 }) }),
        ),
        "alert-channels": keyed(
          "v",
          1,
          some({ alertEmail: fc.constant("ops@example.com") }, { alertChatAUrl: secret, ...policy }),
        ),
      });
    })
    .map((resources) => JSON.parse(JSON.stringify(resources)));
}

const size = fc.nat(3);
const word = fc.stringMatching(/^[a-z]{1,12}$/);
/** What people call things, in any script. */
const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .filter((name) => name.isWellFormed() && !/\p{Cc}/u.test(name) && name.trim() !== "");
const tags = fc.uniqueArray(word, { maxLength: 3 });
const secret = fc
  .webUrl({ validSchemes: ["https"] })
  .filter((url) => url.length < 200)
  .map((url) => ({ secret: { value: url } }));
const time = (day: number) =>
  fc.integer({ min: 0, max: 86_399 }).map((sec) => new Date(Date.UTC(2031, 0, day, 0, 0, sec)).toISOString());

function some(
  needed: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>>,
) {
  return fc.record<Record<string, unknown>>(
    { ...needed, ...optional },
    { requiredKeys: Object.keys(needed) },
  );
}

function keyed(
  prefix: string,
  count: number,
  record: fc.Arbitrary<Record<string, unknown>>,
  finish: (fields: Record<string, unknown>, n: number) => Record<string, unknown> = (fields) => fields,
): fc.Arbitrary<Record<string, Record<string, unknown>>> {
  return fc
    .array(record, { minLength: count, maxLength: count })
    .map((records) => Object.fromEntries(records.map((fields, n) => [`${prefix}${n}`, finish(fields, n)])));
}

const schedule = (email: string) =>
  some(
    { name: text },
    {
      description: text,
      timezone: fc.constantFrom("UTC", "Europe/Berlin"),
      rotations: fc.uniqueArray(
        fc.record({ userId: fc.constant(email), startsAt: time(1), endsAt: time(2) }),
        { maxLength: 3, selector: ({ startsAt }) => startsAt },
      ),
    },
  );

const escalation = (email: string, schedules: readonly object[]) =>
  some(
    {
      name: text,
      steps: fc.array(
        fc.oneof(
          fc.record({
            type: fc.constant("user"),
            delaySec: fc.integer({ min: 60, max: 600 }),
            userId: fc.constant(email),
          }),
          ...(schedules.length === 0
            ? []
            : [
                fc.record({
                  type: fc.constant("schedule"),
                  delaySec: fc.integer({ min: 60, max: 600 }),
                  scheduleId: fc.constantFrom(...schedules),
                }),
              ]),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    },
    { repeat: fc.nat(3), description: text },
  );

const monitorFields = {
  name: text,
  url: fc.constant(MONITOR.url),
  type: fc.constantFrom("http", "https"),
  intervalSec: fc.constantFrom(30, 60, 3600),
  timeoutMs: fc.integer({ min: 1000, max: 30_000 }),
};
const monitorOptions = {
  tags,
  paused: fc.boolean(),
  method: fc.constantFrom("GET", "POST"),
  body: text.map((value) => ({ secret: { value } })),
  headers: fc.dictionary(fc.constantFrom("x-a", "x-b"), word, { minKeys: 1 }),
  alertWebhookUrl: secret,
  alertEmail: fc.constant("ops@example.com"),
  regions: fc.constantFrom(["local"], ["local", "weur"]),
  remindEverySec: fc.integer({ min: 60, max: 3600 }),
};
const alertOptions = {
  query: word,
  kql: word.map((service) => `service == "${service}"`),
  level: fc.constantFrom("error", "warn"),
  threshold: fc.integer({ min: 1, max: 100 }),
  groupBy: fc.constantFrom([], ["service"]),
  ratioThreshold: fc.double({ min: 1.1, max: 1000, noNaN: true }),
  enabled: fc.boolean(),
  alertChatAUrl: secret,
  forSec: fc.nat(600),
};
const metricAlert = {
  name: text,
  metricName: word,
  threshold: fc.double({ noNaN: true, noDefaultInfinity: true }),
};
const metricAlertOptions = {
  comparator: fc.constantFrom("gt", "lt"),
  windowSec: fc.constantFrom(60, 600),
  service: word,
};
const searchOptions = {
  q: text,
  query: word.map((service) => `service == "${service}"`),
  rangeMinutes: fc.integer({ min: 1, max: 43_200 }),
};
const rule = { name: text, joinField: fc.constant("host") };
const kqlStep = word.map((service) => ({ kql: `service == "${service}"` }));
const sequence = some(
  { ...rule, kind: fc.constant("sequence"), steps: fc.array(kqlStep, { minLength: 2, maxLength: 4 }) },
  { alertChatBUrl: secret, attackTechnique: fc.constant("T1110.001") },
);
const cardinality = some(
  {
    ...rule,
    kind: fc.constant("cardinality"),
    matchKql: fc.constant('level == "error"'),
    distinctField: fc.constant("service"),
    threshold: fc.integer({ min: 1, max: 9 }),
  },
  { description: text, enabled: fc.boolean() },
);

const retentionRules = fc.array(
  some({ days: fc.nat(400) }, { level: fc.constantFrom("debug", "error"), service: word }),
  { maxLength: 3 },
);
const dollars = fc.integer({ min: 0, max: 1_000_000 });
const price = some({ inputPerMillion: dollars, outputPerMillion: dollars }, { cacheReadPerMillion: dollars });

/** Each calls the next one, whose key comes later. */
const functions = fc
  .nat(3)
  .map((count) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `f${n}`,
        { name: `Fn${n}`, body: n === count - 1 ? "logs | take 1" : `Fn${n + 1}() | take 1` },
      ]),
    ),
  );

const page = (slug: string, monitors: readonly object[]) =>
  some(
    { name: text, slug: fc.constant(slug) },
    {
      description: text,
      isPublic: fc.boolean(),
      theme: fc.constantFrom({ days: 30 }, { accent: "#1f4fd8", timezone: "Europe/Berlin" }),
      monitorIds: fc.subarray([...monitors]),
      groups: fc.array(fc.record({ name: text, monitorIds: fc.subarray([...monitors]) }), { maxLength: 2 }),
    },
  );
