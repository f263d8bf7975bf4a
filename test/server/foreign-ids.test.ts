import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { ingestEntries, makeToken, type ServerProcess } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";

/**
 * What belongs to another organisation looks exactly like what does not exist, for every operation of the server's own
 * OpenAPI document that names something in its path. An operation without a sample here fails: it is covered on the
 * day it is added.
 */

interface Sample {
  /** Makes such a thing as the owner of a token and answers what stands in the path; of two things with a comma between them. */
  readonly make: (token: string) => Promise<string>;
  /** A body that is fine, by method. */
  readonly bodies?: Readonly<Record<string, unknown>>;
}

let server: ServerProcess;
let own: string;
let foreign: string;
let operations: { method: string; path: string }[];

/** Paths whose parameter names nothing that an organisation owns, and why. */
const NAMES_NOTHING_OWNED: Readonly<Record<string, string>> = {
  "/api/v1/auth/sso/{slug}/start": "public: whoever knows the slug may begin to sign in",
  "/api/v1/me/sso/domains/{domain}/verify": "a name of the DNS, looked up among the domains of the caller",
  "/api/v1/alerts/{token}": "the credential of a receiver, by which its organisation is found",
  "/api/v1/kql/tables/{name}":
    "a name of the caller's own, under which every organisation may have a table; test/domains/kql-tables shows whose it is",
  "/api/v1/logs/ingest/platform-a/{token}": "the caller's own credential",
  "/api/v1/logs/ingest/platform-b/{token}": "the caller's own credential",
  "/api/v1/logs/ingest/stream-a/{token}": "the caller's own credential",
  "/api/v1/logs/ingest/journal/{token}/upload": "the caller's own credential",
  "/acknowledge/{token}": "public: whoever was sent the link may act on its one incident",
  "/acknowledge/{token}/resolve": "public: whoever was sent the link may act on its one incident",
  "/api/v1/on-call/calendars/{token}": "public: whoever has the token may subscribe",
  "/api/v1/heartbeats/{token}": "public: the token is the sender's own credential",
  "/api/v1/heartbeats/{token}/start": "public: the token is the sender's own credential",
  "/api/v1/heartbeats/{token}/fail": "public: the token is the sender's own credential",
  "/api/v1/heartbeats/{token}/{exitCode}": "public: the token is the sender's own credential",
  "/api/v1/status-pages/public/{slug}": "public: whoever knows the slug may read the page",
  "/api/v1/status-pages/public/{slug}/feed.xml": "public: whoever knows the slug may read the page",
  "/api/v1/status-pages/public/by-host/{host}": "public: whoever knows the host may find the page",
  "/api/v1/status-pages/public/{slug}/unlock": "public: whoever knows the password may unlock the page",
  "/api/v1/status-pages/public/{slug}/subscribe": "public: whoever knows the slug may ask to be told",
  "/api/v1/status-pages/public/{slug}/subscribe/confirm": "public: the token of the link is the credential",
  "/status/{slug}": "public: whoever knows the slug may read the page",
  "/status/{slug}/feed.xml": "public: whoever knows the slug may read the page",
  "/status/{slug}/badge.svg": "public: whoever knows the slug may see the status",
  "/status/{slug}/unlock": "public: whoever knows the password may unlock the page",
  "/status/{slug}/subscribe": "public: whoever knows the slug may ask to be told",
  "/api/v1/tools/{file}": "public: the forms in which the operations are there, the same for everybody",
  "/incidents/{id}": "public: a page that reads nothing, the same for every number",
  "/monitors/{id}": "public: a page that reads nothing, the same for every number",
  "/api/v1/badge/monitors/{id}.svg": "public: whoever has the address may see the status",
  "/elasticsearch/{index}": "the server keeps none; every name is answered alike",
  "/elasticsearch/{index}/_bulk": "a name that the sender chooses: the source of its entries",
  "/elasticsearch/{index}/_doc": "a name that the sender chooses: the source of its entry",
  "/elasticsearch/{index}/_doc/{id}": "names that the sender chooses, of an entry that it sends",
  "/elasticsearch/{index}/_create/{id}": "names that the sender chooses, of an entry that it sends",
  "/elasticsearch/_ilm/policy/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_index_template/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_component_template/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_template/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_ingest/pipeline/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_data_stream/{name}": "the server keeps none; every name is answered alike",
};

const TURN = { startsAt: "2026-03-02T09:00:00Z", endsAt: "2026-03-09T09:00:00Z" };

const RUN = { POST: { from: "2026-01-01T00:00:00Z", to: "2026-01-01T01:00:00Z" } };

const SAMPLES: Readonly<Record<string, Sample>> = {
  "/api/v1/saved-searches/{id}": {
    make: (token) => idOf(token, "/api/v1/saved-searches", { name: "a search" }),
    bodies: { PATCH: { name: "renamed" } },
  },
  "/api/v1/assets/{id}": {
    make: (token) => idOf(token, "/api/v1/assets", { ip: anAddress() }),
    bodies: { PATCH: { owner: "somebody" } },
  },
  "/api/v1/identities/{id}": {
    make: (token) => idOf(token, "/api/v1/identities", { principal: crypto.randomUUID() }),
    bodies: { PATCH: { risk: "high" } },
  },
  "/api/v1/context/entity/{id}": { make: entityId },
  "/api/v1/context/entity/{id}/neighbors": { make: entityId },
  "/api/v1/iocs/{id}": {
    make: (token) => idOf(token, "/api/v1/iocs", { type: "ip", value: anAddress() }),
    bodies: { PATCH: { severity: "high" } },
  },
  "/api/v1/iocs/feeds/{id}": {
    make: (token) =>
      idOf(token, "/api/v1/iocs/feeds", {
        ...{
          name: crypto.randomUUID(),
          url: "https://feeds.example.com/x.csv",
          format: "csv",
          enabled: false,
        },
      }),
    bodies: { PATCH: { severity: "high" } },
  },
  "/api/v1/iocs/allow-list/{id}": {
    make: (token) => idOf(token, "/api/v1/iocs/allow-list", { type: "ip", value: anAddress() }),
  },
  "/api/v1/kql/functions/{id}": { make: functionId, bodies: { PATCH: { description: "changed" } } },
  "/api/v1/kql/functions/{id}/versions": { make: functionId },
  "/api/v1/me/tokens/{id}": { make: (token) => idOf(token, "/api/v1/me/tokens", { name: "a token" }) },
  "/api/v1/me/members/{userId}": { make: ownUserId, bodies: { PATCH: { role: "viewer" } } },
  "/api/v1/me/invites/{id}": {
    make: (token) =>
      idOf(token, "/api/v1/me/invites", { email: `${crypto.randomUUID()}@example.com`, role: "member" }),
  },
  "/api/v1/logs/{id}": { make: logEntryId },
  "/api/v1/on-call/schedules/{id}": { make: scheduleId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/on-call/schedules/{id}/calendar": { make: scheduleId },
  "/api/v1/on-call/schedules/{id}/rotations": {
    make: scheduleId,
    bodies: { POST: { userId: 1, ...TURN } },
  },
  "/api/v1/on-call/schedules/{id}/rotations/generate": {
    make: scheduleId,
    bodies: {
      POST: { userIds: [1], everyDays: 7, handoff: "09:00", from: TURN.startsAt, until: TURN.endsAt },
    },
  },
  "/api/v1/on-call/schedules/{id}/rotations/{rotation}": { make: rotationId },
  "/api/v1/me/contact-methods/{id}": { make: contactId },
  "/api/v1/me/contact-methods/{id}/verify": { make: contactId, bodies: { POST: { code: "000000" } } },
  "/api/v1/me/contact-methods/{id}/resend": { make: contactId },
  "/api/v1/escalation-policies/{id}": {
    make: async (token) =>
      idOf(token, "/api/v1/escalation-policies", {
        name: "a policy",
        steps: [{ type: "user", delaySec: 0, userId: Number(await ownUserId(token)) }],
      }),
    bodies: { PATCH: { name: "renamed" } },
  },
  "/api/v1/ingest/sources/{key}": { make: sourceKey, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/ingest/sources/{key}/infer-mapping": {
    make: sourceKey,
    bodies: { POST: { sample: { msg: "x" } } },
  },
  "/api/v1/ingest/{sourceKey}": { make: sourceKey, bodies: { POST: { msg: "x" } } },
  "/api/v1/ingest/sources/{key}/records": { make: sourceKey, bodies: { POST: { msg: "x" } } },
  "/api/v1/ingest/rules/{id}": { make: ruleId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/ingest/rules/{id}/counts": { make: ruleId },
  "/api/v1/ingest/quarantine/{id}": { make: quarantinedRecordId },
  "/api/v1/log-alerts/{id}/runs": { make: alertId, bodies: RUN },
  "/api/v1/metric-alerts/{id}/runs": { make: metricAlertId, bodies: RUN },
  "/api/v1/correlation-rules/{id}/runs": { make: correlationId, bodies: RUN },
  "/api/v1/silences/{id}": {
    make: (token) =>
      idOf(token, "/api/v1/silences", {
        source: "rule",
        endsAt: new Date(Date.now() + 3_600_000).toISOString(),
      }),
    bodies: { PATCH: { reason: "renamed" } },
  },
  "/api/v1/log-alerts/{id}": { make: alertId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/log-errors/{id}": { make: errorGroupId, bodies: { PATCH: { ignored: true } } },
  "/api/v1/log-errors/{id}/similar": { make: errorGroupId },
  "/api/v1/log-errors/{id}/merge": { make: errorGroupId, bodies: { POST: { into: 1 } } },
  "/api/v1/log-errors/{id}/unmerge": { make: errorGroupId },
  "/api/v1/log-metrics/{id}": { make: metricId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/log-metrics/{id}/series": { make: metricId },
  "/api/v1/logs/{id}/context": { make: logEntryId },
  "/api/v1/incidents/{id}": { make: incidentId },
  "/api/v1/cases/{id}": { make: caseId },
  "/api/v1/correlation-rules/{id}": { make: correlationId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/metric-alerts/{id}": { make: metricAlertId, bodies: { PATCH: { threshold: 2 } } },
  "/api/v1/cases/{id}/incidents": { make: caseId, bodies: { POST: { incidentId: 1 } } },
  "/api/v1/cases/{id}/notes": { make: caseId, bodies: { POST: { body: "A note." } } },
  "/api/v1/cases/{id}/evidence": { make: caseId, bodies: { POST: { kind: "text", ref: "192.0.2.1" } } },
  "/api/v1/cases/{id}/merge": { make: caseId, bodies: { POST: { into: 999_999 } } },
  "/api/v1/cases/{id}/export": { make: caseId },
  "/api/v1/incidents/{id}/updates": {
    make: incidentId,
    bodies: { POST: { status: "identified", body: "Found." } },
  },
  "/api/v1/incidents/{id}/acknowledge": { make: incidentId },
  "/api/v1/incidents/{id}/resolve": { make: incidentId },
  "/api/v1/incidents/{id}/postmortem": { make: incidentId, bodies: { PUT: { postmortem: "Learned." } } },
  "/api/v1/incidents/{id}/deliveries": { make: incidentId },
  "/api/v1/incidents/{id}/analysis": { make: incidentId },
  "/api/v1/incidents/{id}/context": { make: incidentId },
  "/api/v1/alert-receivers/{id}": { make: alertReceiverId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/alert-receivers/{id}/rotate": { make: alertReceiverId },
  "/api/v1/monitors/{id}": { make: monitorId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/monitors/{id}/secrets": { make: monitorId },
  "/api/v1/monitors/{id}/rotate-heartbeat-token": { make: monitorId },
  "/api/v1/monitors/{id}/test-alert": { make: monitorId },
  "/api/v1/monitors/{id}/checks": { make: monitorId },
  "/api/v1/monitors/{id}/stats": { make: monitorId },
  "/api/v1/monitors/{id}/timeline": { make: monitorId },
  "/api/v1/maintenance-windows/{id}": {
    make: (token) =>
      idOf(token, "/api/v1/maintenance-windows", {
        startsAt: "2026-03-07T22:00:00Z",
        endsAt: "2026-03-08T02:00:00Z",
      }),
    bodies: { PATCH: { title: "renamed" } },
  },
  "/api/v1/status-pages/{id}": { make: statusPageId, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/status-pages/{id}/host": { make: hostedPageId },
  "/api/v1/status-pages/{id}/host/verify": { make: hostedPageId },
  "/api/v1/status-pages/{id}/subscribers": { make: statusPageId },
  "/api/v1/status-pages/{id}/subscribers/{sid}": { make: subscriberId },
  "/api/v1/status-pages/{id}/password": { make: statusPageId, bodies: { PUT: { password: null } } },
};

beforeAll(async () => {
  const env = { STATUS_PAGE_HOSTS: "*.pages.example.com" };
  server = await startSuiteServer(env);
  own = await makeToken(server.url);
  foreign = await makeToken(server.url);
  const document: { paths: Record<string, Record<string, unknown>> } = JSON.parse(
    await (await fetch(`${server.url}/openapi.json`)).text(),
  );
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
});
afterAll(async () => {
  await server.stop();
});

async function send(
  token: string,
  method: string,
  path: string,
  json?: unknown,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      authorization: `Bearer ${token}`,
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: response.status, text: await response.text() };
}

async function entityId(token: string): Promise<string> {
  const ip = anAddress();
  await idOf(token, "/api/v1/assets", { ip });
  const { text } = await send(
    token,
    "GET",
    `/api/v1/context/lookup?type=asset&key=${encodeURIComponent(ip)}`,
  );
  return String(JSON.parse(text).entity.id);
}

/** Another one each time: a second record of one address would be the first. */
function anAddress(): string {
  const groups = new Uint16Array(crypto.getRandomValues(new Uint8Array(8)).buffer);
  return `2001:db8::${[...groups].map((group) => (group | 1).toString(16)).join(":")}`;
}

async function idOf(token: string, path: string, json: unknown): Promise<string> {
  const { status, text } = await send(token, "POST", path, json);
  if (status !== 201) throw new Error(`${path} answered ${status}: ${text}`);
  const made: { id: number | string } = JSON.parse(text);
  return String(made.id);
}

async function sourceKey(token: string): Promise<string> {
  const key = `source-${crypto.randomUUID()}`;
  const { status } = await send(token, "POST", "/api/v1/ingest/sources", {
    sourceKey: key,
    name: "a source",
  });
  if (status !== 201) throw new Error(`the source was answered ${status}`);
  return key;
}

async function ownUserId(token: string): Promise<string> {
  const me: { user: { id: number } } = JSON.parse((await send(token, "GET", "/api/v1/me")).text);
  return String(me.user.id);
}

async function logEntryId(token: string): Promise<string> {
  const message = `entry ${crypto.randomUUID()}`;
  await ingestEntries(server.url, token, { message });
  return eventually("the entry is found", async () => {
    const { text } = await send(token, "GET", `/api/v1/logs/search?q=${encodeURIComponent(`"${message}"`)}`);
    const found: { entries: { id: string }[] } = JSON.parse(text);
    return found.entries[0]?.id ?? null;
  });
}

async function errorGroupId(token: string): Promise<string> {
  const service = crypto.randomUUID();
  await ingestEntries(server.url, token, { message: "failed", level: "error", service });
  return eventually("the group is found", async () => {
    const { text } = await send(token, "GET", `/api/v1/log-errors?service=${service}`);
    const found: { items: { id: number }[] } = JSON.parse(text);
    return found.items[0] === undefined ? null : String(found.items[0].id);
  });
}

function scheduleId(token: string): Promise<string> {
  return idOf(token, "/api/v1/on-call/schedules", { name: "a schedule" });
}

async function rotationId(token: string): Promise<string> {
  const schedule = await scheduleId(token);
  const turn = { userId: Number(await ownUserId(token)), ...TURN };
  return `${schedule},${await idOf(token, `/api/v1/on-call/schedules/${schedule}/rotations`, turn)}`;
}

function contactId(token: string): Promise<string> {
  const address = `${crypto.randomUUID()}@example.com`;
  return idOf(token, "/api/v1/me/contact-methods", { kind: "email", address });
}

function monitorId(token: string): Promise<string> {
  return idOf(token, "/api/v1/monitors", {
    name: "a monitor",
    url: "backup",
    type: "heartbeat",
    intervalSec: 60,
    timeoutMs: 1000,
  });
}

function functionId(token: string): Promise<string> {
  const name = `f_${crypto.randomUUID().replaceAll("-", "")}`;
  return idOf(token, "/api/v1/kql/functions", { name, body: "print 1" });
}

function ruleId(token: string): Promise<string> {
  return idOf(token, "/api/v1/ingest/rules", { name: "a rule", action: "mask", patterns: ["card"] });
}

function alertId(token: string): Promise<string> {
  return idOf(token, "/api/v1/log-alerts", { name: "an alert" });
}

function metricId(token: string): Promise<string> {
  return idOf(token, "/api/v1/log-metrics", { name: "a metric" });
}

function incidentId(token: string): Promise<string> {
  return idOf(token, "/api/v1/incidents", { title: "an incident" });
}

function correlationId(token: string): Promise<string> {
  const steps = [{ kql: 'service == "a"' }, { kql: 'service == "b"' }];
  return idOf(token, "/api/v1/correlation-rules", {
    name: "a rule",
    kind: "sequence",
    joinField: "host",
    steps,
  });
}

function metricAlertId(token: string): Promise<string> {
  return idOf(token, "/api/v1/metric-alerts", { name: "an alert", metricName: "a", threshold: 1 });
}

function caseId(token: string): Promise<string> {
  return idOf(token, "/api/v1/cases", { title: "a case" });
}

function statusPageId(token: string): Promise<string> {
  return idOf(token, "/api/v1/status-pages", { name: "a page", slug: `page-${crypto.randomUUID()}` });
}

function hostedPageId(token: string): Promise<string> {
  const slug = `page-${crypto.randomUUID()}`;
  const customDomain = `${slug}.pages.example.com`;
  return idOf(token, "/api/v1/status-pages", { name: "a page", slug, customDomain });
}

async function subscriberId(token: string): Promise<string> {
  const slug = `page-${crypto.randomUUID()}`;
  const page = await idOf(token, "/api/v1/status-pages", { name: "a page", slug });
  await send(token, "POST", `/api/v1/status-pages/public/${slug}/subscribe`, {
    email: `${crypto.randomUUID()}@example.com`,
  });
  const { text } = await send(token, "GET", `/api/v1/status-pages/${page}/subscribers`);
  const [subscriber]: { id: number }[] = JSON.parse(text);
  return `${page},${subscriber?.id}`;
}

function alertReceiverId(token: string): Promise<string> {
  return idOf(token, "/api/v1/alert-receivers", { name: "a receiver" });
}

async function quarantinedRecordId(token: string): Promise<string> {
  await send(token, "POST", `/api/v1/logs/ingest/platform-a/${token}`, ["no object"]);
  const { text } = await send(token, "GET", "/api/v1/ingest/quarantine?limit=1");
  const found: { items: { id: number }[] } = JSON.parse(text);
  return String(found.items[0]?.id);
}

const withoutRequestId = (text: string): string => text.replace(/"requestId":"[^"]*"/, "");

describe("the id of another organisation", () => {
  test("has a sample for every operation with something in its path", () => {
    const missing = operations
      .map(({ path }) => path)
      .filter(
        (path) =>
          path.includes("{") && SAMPLES[path] === undefined && NAMES_NOTHING_OWNED[path] === undefined,
      );
    expect([...new Set(missing)]).toEqual([]);
  });

  test("is 404 in the words of an id that nothing has, and nothing happens to it", async () => {
    for (const { method, path } of operations) {
      const sample = SAMPLES[path];
      if (sample === undefined) continue;
      const at = (id: string): string => {
        const [first = "", second = first] = id.split(",");
        return path.replace(/\{[^}]+\}/, first).replace(/\{[^}]+\}/, second);
      };
      const body = sample.bodies?.[method] ?? (method === "GET" || method === "DELETE" ? undefined : {});
      const id = await sample.make(foreign);
      const theirs = await send(own, method, at(id), body);
      const nobodys = await send(own, method, at("999999999999"), body);
      expect([method, path, theirs.status]).toEqual([method, path, 404]);
      expect(withoutRequestId(theirs.text)).toBe(withoutRequestId(nobodys.text));
      // Its own organisation still has it, which also shows that the sample is a good one.
      const kept = await send(foreign, method, at(id), body);
      expect([method, path, kept.status < 500 && kept.status !== 404]).toEqual([method, path, true]);
    }
  });

  test("in the body of a silence is 400 at its place, as one that nothing has is", async () => {
    const subjects = [
      { make: alertId, named: (id: number) => ({ ruleKind: "log", ruleId: id }), path: "/ruleId" },
      { make: metricAlertId, named: (id: number) => ({ ruleKind: "metric", ruleId: id }), path: "/ruleId" },
      {
        make: correlationId,
        named: (id: number) => ({ ruleKind: "correlation", ruleId: id }),
        path: "/ruleId",
      },
      { make: monitorId, named: (id: number) => ({ monitorId: id }), path: "/monitorId" },
    ];
    const silences = "/api/v1/silences";
    const endsAt = new Date(Date.now() + 3_600_000).toISOString();
    const changed = await idOf(own, silences, { source: "rule", endsAt });
    for (const { make, named, path } of subjects) {
      for (const id of [Number(await make(foreign)), 999_999_999_999])
        for (const { status, text } of [
          await send(own, "POST", silences, { endsAt, ...named(id) }),
          await send(own, "PATCH", `${silences}/${changed}`, named(id)),
        ])
          expect([named(id), status, JSON.parse(text).fields]).toEqual([
            named(id),
            400,
            [{ path, code: "custom", message: expect.any(String) }],
          ]);
      const mine = named(Number(await make(own)));
      expect((await send(own, "POST", silences, { endsAt, ...mine })).status).toBe(201);
      expect((await send(own, "PATCH", `${silences}/${changed}`, mine)).status).toBe(200);
    }
  });
});
