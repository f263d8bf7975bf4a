/** What Alertmanager, Grafana and anything else say is wrong becomes one incident of each key, which the same key ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import {
  BODIES_PER_MINUTE,
  BODY_MAX_BYTES,
  OPEN_MAX,
  UNGROUPED_MAX,
} from "../../../src/domains/received-alerts/limits.ts";
import { receivedAlertRoutes } from "../../../src/domains/received-alerts/routes.ts";
import {
  AlertReceiver,
  MintedAlertReceiver,
  ReceivedAlerts,
} from "../../../src/domains/received-alerts/types.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bodyOf, ErrorAnswer } from "../../identity/identity-server.ts";
import {
  type IncidentServer,
  incidentServer,
  MINUTE_MS,
  makeOrganization,
  makePerson,
  START_MS,
} from "../incidents/incident-server.ts";
import { auditOf } from "../organizations/organization-server.ts";

const RECEIVERS = "/api/v1/alert-receivers";

let stores: TestStores;
let sql: TestStores["postgres"];
let person: number;
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  person = await makePerson(sql);
});
afterAll(() => stores.close());

interface Suite {
  readonly server: IncidentServer;
  readonly organizationId: number;
  readonly receiver: MintedAlertReceiver;
  /** Sends a body without a credential, and has it delivered. */
  readonly post: (body: unknown, token?: string) => Promise<Response>;
  readonly open: () => Promise<{ title: string; severity: string; sourceKey: string | null }[]>;
}

function alertServer(): IncidentServer {
  return incidentServer(sql, {
    person,
    moreRoutes: ({ now }) =>
      receivedAlertRoutes({ sql, now, publicUrl: "https://obs.example.com", knowsPolicy: async () => false }),
  });
}

async function suite(body: object = { name: "Alertmanager" }): Promise<Suite> {
  const server = alertServer();
  const organizationId = await makeOrganization(sql);
  const receiver = await bodyOf(
    await server.send(organizationId, "POST", RECEIVERS, body),
    MintedAlertReceiver,
  );
  return {
    server,
    organizationId,
    receiver,
    post: async (json, token = receiver.token) => {
      const response = await post(server, token, json);
      await server.deliver();
      return response;
    },
    open: async () => (await server.list(organizationId, "?status=open&limit=1000")).items,
  };
}

/** As a sender does, who shows the path and nothing else. */
function post(server: IncidentServer, token: string, json: unknown): Promise<Response> {
  const text = typeof json === "string" ? json : JSON.stringify(json);
  const headers = { "content-type": "application/json; charset=utf-8" };
  return server.send(0, "POST", `/api/v1/alerts/${token}`, undefined, { as: "", headers, body: text });
}

function fixture(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(import.meta.dir, "fixtures", `${name}.json`), "utf8"));
}

/** A group as it is sent when all of it is over. */
function over(group: Record<string, unknown>, endsAt: string): Record<string, unknown> {
  const alerts = Array.isArray(group.alerts) ? group.alerts : [];
  return {
    ...group,
    status: "resolved",
    alerts: alerts.map((alert: object) => ({ ...alert, status: "resolved", endsAt })),
  };
}

async function refusedAs(response: Response): Promise<[number, string, string[]]> {
  const { code, fields = [] } = await bodyOf(response, ErrorAnswer);
  return [response.status, code, fields.map((field) => `${field.path} ${field.code}`)];
}

const plain = (key: string, status = "firing", more: object = {}): object => ({
  key,
  status,
  title: `${key} is wrong`,
  ...more,
});

describe("a group of Alertmanager", () => {
  test("is one incident: dated back to its first alert, as bad as its worst, with the alerts as proof", async () => {
    const { server, organizationId, receiver, post, open } = await suite();
    const group = fixture("alertmanager-firing");
    const answer = await post(group);
    expect(answer.status).toBe(202);
    expect(await bodyOf(answer, ReceivedAlerts)).toEqual({ firing: 1, resolved: 0 });
    const [incident, ...others] = (await server.list(organizationId)).items;
    expect(others).toEqual([]);
    expect(incident).toMatchObject({
      title: "HostDown (cluster=eu)",
      severity: "critical",
      status: "investigating",
      source: { kind: "alert", id: receiver.id, name: "Alertmanager" },
      sourceKey: `alert:${receiver.id}:${group.groupKey}`,
      openedAt: "2026-03-01T11:52:26.739Z",
    });
    const { evidence, updates } = await server.read(organizationId, incident?.id ?? 0);
    expect(evidence).toMatchObject({ sender: "alertmanager", firing: 2, resolved: 1, truncated: 0 });
    expect(evidence).toHaveProperty("alerts.2.status", "resolved");
    expect(updates.map(({ body }) => body)).toEqual([
      [
        "2 alerts fire.",
        "instance=db-1.example.com:9100 severity=warning: db-1.example.com:9100 has not been scraped for 5 minutes.",
        "instance=db-2.example.com:9100 severity=critical: db-2.example.com:9100 has not been scraped for 5 minutes.",
      ].join("\n"),
    ]);
    // Repeated, as senders do for as long as it lasts.
    for (let n = 0; n < 3; n += 1) expect((await post(group)).status).toBe(202);
    expect(await open()).toHaveLength(1);
    expect((await server.read(organizationId, incident?.id ?? 0)).updates).toEqual(updates);
    expect(server.told.map(({ kind }) => kind)).toEqual(["incident.opened"]);
  });

  test("ends when all of it is over, as often as that is said", async () => {
    const { server, organizationId, post } = await suite();
    const group = fixture("alertmanager-firing");
    await post(group);
    server.clock.nowMs = START_MS + 5 * MINUTE_MS;
    const resolved = over(group, "2026-03-01T12:04:00Z");
    for (let n = 0; n < 2; n += 1)
      expect(await bodyOf(await post(resolved), ReceivedAlerts)).toEqual({ firing: 0, resolved: 1 });
    expect((await server.list(organizationId)).items).toMatchObject([
      { status: "resolved", resolution: "sender", resolvedAt: "2026-03-01T12:04:00.000Z" },
    ]);
    // Back within ten minutes it is the same one.
    server.clock.nowMs = START_MS + 8 * MINUTE_MS;
    const again = fixture("alertmanager-firing");
    await post({
      ...again,
      alerts: [{ status: "firing", labels: { alertname: "HostDown" }, startsAt: "2026-03-01T12:07:00Z" }],
    });
    expect((await server.list(organizationId)).items).toMatchObject([
      { status: "investigating", reopened: 1 },
    ]);
    expect(server.told.map(({ kind }) => kind)).toEqual([
      "incident.opened",
      "incident.resolved",
      "incident.reopened",
    ]);
  });

  test("without a key is one of each alert, by its fingerprint or else its labels", async () => {
    const { post, open, receiver } = await suite();
    const { groupKey: _, ...group } = fixture("alertmanager-firing");
    const labelled = (host: string, status = "firing") => ({ status, labels: { host, alertname: "Disk" } });
    await post({
      ...group,
      alerts: [...(Array.isArray(group.alerts) ? group.alerts : []), labelled("a"), labelled("b")],
    });
    const keys = (await open()).map(({ sourceKey }) => sourceKey);
    expect(keys).toHaveLength(4);
    expect(keys).toContain(`alert:${receiver.id}:1a30ba71cca2921f`);
    await post({ ...group, alerts: [{ status: "resolved", labels: { alertname: "Disk", host: "a" } }] });
    expect(await open()).toHaveLength(3);
  });

  test("of two receivers is two incidents", async () => {
    const { server, organizationId, post, open, receiver } = await suite();
    const second = await bodyOf(
      await server.send(organizationId, "POST", RECEIVERS, { name: "Second" }),
      MintedAlertReceiver,
    );
    const group = fixture("alertmanager-firing");
    await post(group);
    await post(group, second.token);
    expect(await open()).toHaveLength(2);
    await post(over(group, "2026-03-01T12:00:00Z"), second.token);
    expect(await open()).toMatchObject([{ sourceKey: `alert:${receiver.id}:${group.groupKey}` }]);
  });
});

test("a group of Grafana is an incident in the words of its rule, as bad as its receiver says", async () => {
  const { server, organizationId, post } = await suite({ name: "Grafana", severity: "high" });
  const group = fixture("grafana-firing");
  expect((await post(group)).status).toBe(202);
  const [incident] = (await server.list(organizationId)).items;
  expect(incident).toMatchObject({
    title: "Memory of zone us-1 is nearly full",
    severity: "high",
    openedAt: "2026-03-01T11:51:03.157Z",
  });
  expect((await server.read(organizationId, incident?.id ?? 0)).evidence).toMatchObject({
    sender: "grafana",
  });
  await post({ ...over(group, "2026-03-01T12:00:00Z"), state: "ok" });
  expect((await server.list(organizationId)).items).toMatchObject([
    { status: "resolved", resolution: "sender" },
  ]);
});

test("anything else says a key, a state and a title", async () => {
  const { server, organizationId, post, open } = await suite();
  await post(plain("backup", "firing", { severity: "low", body: "No space." }));
  await post(plain("backup", "firing", { severity: "high" }));
  await post(plain("restore"));
  expect(await open()).toMatchObject([
    { title: "restore is wrong", severity: "medium" },
    { title: "backup is wrong", severity: "high" },
  ]);
  // What is well need not say what it was.
  await post({ key: "backup", status: "resolved" });
  await post({ key: "never heard of", status: "resolved" });
  expect(await open()).toMatchObject([{ title: "restore is wrong" }]);
  const [, ended] = (await server.list(organizationId)).items;
  expect((await server.read(organizationId, ended?.id ?? 0)).updates.map(({ body }) => body)).toEqual([
    "No space.",
    "Its sender says that it fires.",
    "Its sender says that it is resolved.",
  ]);
});

describe("a body that is wrong", () => {
  const wrong: [unknown, string][] = [
    ["", " custom"],
    ["{", " custom"],
    ["[]", " invalid_type"],
    ["null", " invalid_type"],
    [{ key: "", status: "firing", title: "x" }, "/key too_small"],
    [{ key: "x".repeat(256), status: "firing", title: "x" }, "/key too_big"],
    [{ key: "a", status: "alerting", title: "x" }, "/status invalid_literal"],
    [{ key: "a", status: "firing" }, "/title invalid_type"],
    [{ key: "a", status: "firing", title: "x".repeat(256) }, "/title too_big"],
    [{ key: "a", status: "firing", title: "x", body: "x".repeat(4097) }, "/body too_big"],
    [{ key: "a", status: "firing", title: "x", severity: "worst" }, "/severity invalid_literal"],
    [{ key: "a", status: "firing", title: "x", labels: {} }, "/labels unrecognized_keys"],
    [{ status: "firing", alerts: [] }, "/alerts too_small"],
    [{ status: "firing", alerts: {} }, "/alerts invalid_type"],
    [{ status: "firing", alerts: [{ status: "firing", labels: {} }, 1] }, "/alerts/1 invalid_type"],
    [
      { status: "firing", alerts: [{ status: "firing", labels: { a: 1 } }] },
      "/alerts/0/labels/a invalid_type",
    ],
    [{ status: "firing", alerts: [{ status: "pending", labels: {} }] }, "/alerts/0/status invalid_literal"],
    [{ status: "firing", alerts: [{ labels: {} }] }, "/alerts/0/status invalid_type"],
    [{ alerts: [{ status: "firing", labels: {} }] }, "/status invalid_type"],
    [
      {
        status: "firing",
        alerts: Array.from({ length: UNGROUPED_MAX + 1 }, () => ({ status: "firing", labels: {} })),
      },
      "/alerts too_big",
    ],
    [`{"key":${"[".repeat(100)}${"]".repeat(100)}}`, " too_big"],
  ];
  test.each(wrong.map(([body, issue], n): [string, unknown, string] => [`${n}`, body, issue]))(
    "number %s is refused with its place",
    async (_n, body, issue) => {
      const { post, open } = await suite();
      expect(await refusedAs(await post(body))).toEqual([400, "VALIDATION_FAILED", [issue]]);
      expect(await open()).toEqual([]);
    },
  );

  test("is refused when it is too large, no JSON by its type, or packed beyond its bound", async () => {
    const { server, receiver, post } = await suite();
    expect(await refusedAs(await post(`"${"x".repeat(BODY_MAX_BYTES)}"`))).toEqual([
      413,
      "PAYLOAD_TOO_LARGE",
      [],
    ]);
    const path = `/api/v1/alerts/${receiver.token}`;
    const form = { as: "", headers: { "content-type": "application/x-www-form-urlencoded" }, body: "key=a" };
    expect((await server.send(0, "POST", path, undefined, form)).status).toBe(415);
    const bomb = Bun.gzipSync(new Uint8Array(64 * 1024 * 1024));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await server.send(0, "POST", path, undefined, { as: "", headers, body: bomb })).status).toBe(413);
  });

  test("of hostile texts becomes an incident that can be stored and told", async () => {
    const { server, organizationId, post } = await suite();
    const text = "\u0000\ud800\u0001<script>'; DROP TABLE incidents; --".repeat(20);
    const labels = { alertname: text, __proto__: "x", constructor: "y", [text]: text, severity: text };
    const alert = {
      status: "firing",
      labels,
      annotations: { description: text },
      startsAt: text,
      endsAt: text,
    };
    const many = Array.from({ length: 500 }, (_, n) => ({ ...alert, labels: { ...labels, n: `${n}` } }));
    for (const group of [
      { status: "firing", groupKey: text, groupLabels: labels, externalURL: text, alerts: many },
      {
        status: "firing",
        groupKey: "x".repeat(100_000),
        commonAnnotations: { summary: text },
        alerts: [alert],
      },
      { status: "firing", groupKey: "times", alerts: [{ ...alert, startsAt: "0001-01-01T00:00:00Z" }] },
      { status: "firing", groupKey: "future", alerts: [{ ...alert, startsAt: "9999-01-01T00:00:00Z" }] },
    ])
      expect((await post(group)).status).toBe(202);
    expect(
      (
        await post({
          key: "\u0000\ud800",
          status: "firing",
          title: "\u0001".repeat(255),
          body: text,
        })
      ).status,
    ).toBe(202);
    const { items } = await server.list(organizationId);
    expect(items).toHaveLength(5);
    for (const { openedAt, title } of items) {
      expect(openedAt).toBe(new Date(START_MS).toISOString());
      expect([...title].length).toBeLessThanOrEqual(255);
    }
    const [left] = await sql<{ left: number }[]>`
      SELECT count(*)::integer AS left FROM event_deliveries WHERE organization_id = ${organizationId}`;
    expect(left?.left).toBe(0);
    for (const { sourceKey } of items)
      expect(sourceKey).toMatch(/^alert:\d+:(sha256:[0-9a-f]{64}|times|future)$/);
    // The same words end them.
    await post({ status: "resolved", groupKey: text, alerts: [{ ...alert, status: "resolved" }] });
    await post({ key: "\u0000\ud800", status: "resolved" });
    expect((await server.list(organizationId, "?status=resolved")).total).toBe(2);
  });
});

describe("a token", () => {
  test("that nobody has is refused before the body is looked at, in the words of one that was replaced or deleted", async () => {
    const { server, organizationId, receiver, post, open } = await suite();
    const path = `${RECEIVERS}/${receiver.id}`;
    const rotated = await bodyOf(
      await server.send(organizationId, "POST", `${path}/rotate`),
      MintedAlertReceiver,
    );
    expect(rotated.token).not.toBe(receiver.token);
    expect(rotated.url).toBe(`https://obs.example.com/api/v1/alerts/${rotated.token}`);
    const answers = [await refusedAs(await post("{", "x".repeat(43))), await refusedAs(await post("{"))];
    expect((await post(plain("a"), rotated.token)).status).toBe(202);
    expect((await server.send(organizationId, "DELETE", path)).status).toBe(204);
    answers.push(await refusedAs(await post(plain("b"), rotated.token)));
    expect(answers).toEqual(Array.from({ length: 3 }, () => [404, "NOT_FOUND", []]));
    expect(await open()).toEqual([]);
  });

  test("is shown once, and stands neither in the log, nor in the audit log, nor in the tables", async () => {
    const { server, organizationId, receiver, post } = await suite();
    await post(plain("a"));
    await post("{");
    await server.send(organizationId, "POST", `${RECEIVERS}/${receiver.id}/rotate`);
    await post(plain("a"));
    const listed = await server.send(organizationId, "GET", RECEIVERS);
    const audited = await auditOf(stores, organizationId);
    const stored =
      await sql`SELECT r::text AS text FROM alert_receivers r UNION ALL SELECT e::text FROM events e`;
    const everything = JSON.stringify([await listed.text(), server.logged(), audited, stored]);
    expect(everything).not.toContain(receiver.token);
    expect(server.logged().length).toBeGreaterThan(3);
    expect(audited.map(({ action }) => action)).toEqual([
      "CREATE_ALERT_RECEIVER",
      "ROTATE_ALERT_RECEIVER_TOKEN",
    ]);
  });

  test("is limited by itself, and leaves the others of its address alone", async () => {
    const [busy, quiet] = [await suite(), await suite()];
    const statuses: number[] = [];
    for (let n = 0; n < BODIES_PER_MINUTE; n += 1)
      statuses.push((await post(busy.server, busy.receiver.token, "{")).status);
    expect(new Set(statuses)).toEqual(new Set([400]));
    const limited = await post(busy.server, busy.receiver.token, "{");
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await quiet.post(plain("a"))).status).toBe(202);
  });
});

test("a sender that invents keys opens a list of incidents and no more, and may still end them", async () => {
  const { organizationId, receiver, post, open } = await suite();
  await sql`
    INSERT INTO incidents (organization_id, source_key, source, title, status, severity, opened_at, created_at, updated_at)
    SELECT ${organizationId}, 'alert:' || ${receiver.id}::integer || ':k' || n,
           jsonb_build_object('kind', 'alert', 'id', ${receiver.id}::integer, 'name', 'x'), 'x', 'investigating', 'low',
           now(), now(), now() FROM generate_series(1, ${OPEN_MAX}::integer) AS n`;
  expect(await refusedAs(await post(plain("new")))).toEqual([409, "CONFLICT", []]);
  expect((await post(plain("k1"))).status).toBe(202);
  expect((await post({ key: "k1", status: "resolved" })).status).toBe(202);
  expect((await post(plain("new"))).status).toBe(202);
  expect(await open()).toHaveLength(OPEN_MAX);
});

test("with a receiver end its incidents, and nobody else's", async () => {
  const [own, other] = [await suite(), await suite()];
  const second = await bodyOf(
    await own.server.send(own.organizationId, "POST", RECEIVERS, { name: "Second" }),
    MintedAlertReceiver,
  );
  await own.post(plain("a"));
  await own.post(plain("b"));
  await own.post(plain("of the second"), second.token);
  await other.post(plain("a"));
  await own.server.send(own.organizationId, "DELETE", `${RECEIVERS}/${own.receiver.id}`);
  await own.server.deliver();
  const { items } = await own.server.list(own.organizationId);
  expect(items.map(({ title, resolution }) => `${title}: ${resolution}`).toSorted()).toEqual([
    "a is wrong: deleted",
    "b is wrong: deleted",
    "of the second is wrong: null",
  ]);
  expect(await other.open()).toHaveLength(1);
});

describe("a receiver", () => {
  test("is made, listed, changed, and its organisation's alone", async () => {
    const { server, organizationId, receiver } = await suite();
    const { token: _token, url: _url, ...record } = receiver;
    expect(record).toMatchObject({ name: "Alertmanager", severity: "medium", escalationPolicyId: null });
    const path = `${RECEIVERS}/${receiver.id}`;
    const changed = await server.send(organizationId, "PATCH", path, {
      severity: "critical",
      escalationPolicyId: null,
    });
    expect(await bodyOf(changed, AlertReceiver)).toMatchObject({
      severity: "critical",
      name: "Alertmanager",
    });
    const foreign = await makeOrganization(sql);
    const listed = await server.send(foreign, "GET", RECEIVERS);
    expect(await bodyOf(listed, Type.Array(AlertReceiver))).toEqual([]);
    for (const [method, to] of [
      ["GET", path],
      ["PATCH", path],
      ["DELETE", path],
      ["POST", `${path}/rotate`],
    ] as const)
      expect(
        (await server.send(foreign, method, to, method === "PATCH" ? { name: "x" } : undefined)).status,
      ).toBe(404);
    expect((await server.send(organizationId, "GET", path)).status).toBe(200);
  });

  test.each<[object, string]>([
    [{}, "/name invalid_type"],
    [{ name: "x", severity: null }, "/severity invalid_literal"],
    [{ name: "x", escalationPolicyId: 12 }, "/escalationPolicyId custom"],
    [{ name: "x", token: "mine" }, "/token unrecognized_keys"],
  ])("%j is refused", async (body, issue) => {
    const server = alertServer();
    const refused = await server.send(await makeOrganization(sql), "POST", RECEIVERS, body);
    expect(await refusedAs(refused)).toEqual([400, "VALIDATION_FAILED", [issue]]);
  });
});
