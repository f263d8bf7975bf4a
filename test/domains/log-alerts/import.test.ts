/** Sigma rules that somebody brings become rules: each once, as they are now, and of nobody else. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type AlertServer, alertServer, makeOrganization, PATH } from "./alert-server.ts";

const IMPORT = `${PATH}/import`;
let stores: TestStores;
let server: AlertServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await alertServer(stores);
});
afterAll(() => stores.close());

const rule = (id: string, detection: string, more = ""): string =>
  `title: Rule ${id}\nid: ${id}\nlogsource: { product: linux }\nlevel: high\n${more}detection: { a: ${detection}, condition: a }`;

async function importAll(own: number, ...documents: readonly string[]) {
  const { status, body } = await server.send(own, "POST", IMPORT, { yaml: documents.join("\n---\n") });
  expect(status).toBe(200);
  return body.results;
}

test("a rule that somebody brings is made, says what it looks at, and fires", async () => {
  const own = await makeOrganization(stores);
  const other = await makeOrganization(stores);
  await server.store(own, { message: "before", atMs: server.clock.nowMs, attrs: [["exe", "/bin/sh"]] });
  const [made] = await importAll(own, rule("r-1", "{ exe|endswith: /nc, uid: 0 }"));
  expect(made).toMatchObject({
    ...{ title: "Rule r-1", ruleKind: "log", updated: false },
    fields: [
      { name: "exe", seen: true },
      { name: "uid", seen: false },
    ],
  });
  const [named] = await importAll(own, rule("r-0", "{ message|contains: never, host: nobody }"));
  expect(named.fields).toEqual([
    { name: "message", seen: true },
    { name: "host", seen: false },
  ]);
  const { body: alert } = await server.send(own, "GET", `${PATH}/${made.ruleId}`);
  expect(alert).toMatchObject({ name: "Rule r-1", severity: "high", enabled: true, catalogId: "sigma:r-1" });
  await server.work();
  const atMs = server.clock.nowMs;
  for (const organizationId of [own, other])
    await server.store(
      organizationId,
      {
        message: "ran",
        atMs,
        attrs: [
          ["exe", "/usr/bin/nc"],
          ["uid", "0"],
        ],
      },
      {
        message: "ran",
        atMs,
        attrs: [
          ["exe", "/usr/bin/nc"],
          ["uid", "1000"],
        ],
      },
    );
  await server.work();
  expect((await server.toldOf(own)).map(({ kind, key }) => [kind, key])).toEqual([
    ["raised", `rule:log:${made.ruleId}`],
  ]);
  expect(await server.toldOf(other)).toEqual([]);
});

test("what a long rule would become can be previewed as it is", async () => {
  const own = await makeOrganization(stores);
  const names = Array.from({ length: 200 }, (_, i) => `tool-number-${i}.exe`);
  const yaml = rule("long", `{ x|endswith: [${names.join(", ")}] }`);
  const { body } = await server.send(own, "POST", `${PATH}/import`, { yaml, dryRun: true });
  const { name, kql, threshold, windowSec } = body.results[0].rule;
  expect(kql.length).toBeGreaterThan(2_048);
  const terms = { name, kql, threshold, windowSec };
  expect(await server.send(own, "POST", `${PATH}/preview`, terms)).toMatchObject({
    ...{ status: 200, body: { matched: 0 } },
  });
});

test("of many documents the broken ones say where, and all others are taken", async () => {
  const own = await makeOrganization(stores);
  const documents = Array.from({ length: 40 }, (_, i) =>
    i === 17 ? rule("broken", "{ x|expand: '%y%' }") : rule(`m-${i}`, `{ x: y${i} }`),
  );
  const results = await importAll(
    own,
    ...documents,
    rule("m-3", "{ x: z }"),
    rule("re", "{ x|re: '(?<=a)b' }"),
  );
  expect(results).toHaveLength(42);
  expect(results[17]).toMatchObject({ title: "Rule broken", line: 17 * 6 + 5, column: 29 });
  expect(results[17].error).toContain("/detection/a/x|expand");
  expect(results[40]).toMatchObject({ line: 40 * 6 + 2, column: 5 });
  expect(results[40].error).toContain("/id is that of another document");
  expect(results[41]).toMatchObject({ line: 41 * 6 + 5, column: 25 });
  expect(results[41].error).toContain("refused");
  const ids = results.flatMap(({ ruleId }: { ruleId?: number }) => ruleId ?? []);
  expect(ids).toHaveLength(39);
  expect((await server.send(own, "GET", PATH)).body).toHaveLength(39);
});

test("a repetition changes the rule of the same id, and leaves what its owner decided", async () => {
  const own = await makeOrganization(stores);
  const other = await makeOrganization(stores);
  const [first] = await importAll(own, rule("same", "{ x: y }", "description: Old\n"));
  const [foreign] = await importAll(other, rule("same", "{ x: y }"));
  await server.send(own, "PATCH", `${PATH}/${first.ruleId}`, {
    enabled: false,
    alertEmail: "ops@example.com",
  });
  const [again] = await importAll(own, rule("same", "{ x: z }"));
  expect(again).toMatchObject({ ruleId: first.ruleId, updated: true });
  expect((await server.send(own, "GET", PATH)).body).toMatchObject([
    {
      ...{ id: first.ruleId, enabled: false, alertEmail: "ops@example.com", description: null },
      kql: 'tostring(attrs.x) =~ "z"',
    },
  ]);
  expect((await server.send(other, "GET", `${PATH}/${foreign.ruleId}`)).body.kql).toBe(
    'tostring(attrs.x) =~ "y"',
  );
});

test("correlations become rules of their kind, again the same ones", async () => {
  const own = await makeOrganization(stores);
  const documents = [
    rule("step-1", "{ x: one }"),
    rule("step-2", "{ x: two }"),
    "title: In order\nid: order\ncorrelation: { type: temporal_ordered, rules: [step-1, step-2], group-by: [host], timespan: 5m }",
  ];
  const [, , made] = await importAll(own, ...documents);
  expect(made).toMatchObject({ ruleKind: "correlation", updated: false });
  const path = `/api/v1/correlation-rules/${made.ruleId}`;
  expect((await server.send(own, "GET", path)).body).toMatchObject({
    kind: "sequence",
    joinField: "host",
    windowSec: 300,
  });
  const [one, , again] = await importAll(own, ...documents);
  expect(one.note).toContain("Others are made of it");
  expect(again).toMatchObject({ ruleId: made.ruleId, updated: true });
  expect((await server.send(own, "GET", PATH)).body).toEqual([]);
});

test("a dry run says what would become of each and makes nothing", async () => {
  const own = await makeOrganization(stores);
  const yaml = [rule("d-1", "{ x: y }"), "title: No rule"].join("\n---\n");
  const { body } = await server.send(own, "POST", IMPORT, { yaml, dryRun: true });
  expect(body.results).toMatchObject([
    {
      title: "Rule d-1",
      ruleKind: "log",
      kql: 'tostring(attrs.x) =~ "y"',
      fields: [{ name: "x", seen: false }],
    },
    { title: "No rule", error: expect.stringContaining("/logsource") },
  ]);
  expect(body.results[0].ruleId).toBeUndefined();
  expect((await server.send(own, "GET", PATH)).body).toEqual([]);
});

test.each([
  ["nothing", "# nothing", "has no rules"],
  ["more documents than one import takes", "a: b\n---\n".repeat(501), "more than 500 documents"],
])("%s is refused", async (_, yaml, said) => {
  const own = await makeOrganization(stores);
  const { status, body } = await server.send(own, "POST", IMPORT, { yaml });
  expect(status).toBe(400);
  expect(body.fields[0]).toMatchObject({ path: "/yaml", message: expect.stringContaining(said) });
});

test("rules of which there would be too many are made all or none", async () => {
  const own = await makeOrganization(stores);
  await stores.postgres`
    INSERT INTO log_alerts (organization_id, name, kind, severity, group_by, threshold, window_sec, baseline_hours,
                            ratio_threshold, min_baseline_events, direction, enabled, channels, created_at, updated_at)
    SELECT ${own}, 'r', 'threshold', 'low', '{}', 1, 60, 1, 3, 1, 'spike', false, '{}', now(), now()
    FROM generate_series(1, 999)`;
  const yaml = [rule("t-1", "{ x: y }"), rule("t-2", "{ x: y }")].join("\n---\n");
  expect((await server.send(own, "POST", IMPORT, { yaml })).status).toBe(409);
  const [row] =
    await stores.postgres`SELECT count(*)::integer AS n FROM log_alerts WHERE organization_id = ${own}`;
  expect(row?.n).toBe(999);
});
