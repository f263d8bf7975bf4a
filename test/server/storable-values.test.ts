import { beforeAll, describe, expect, test } from "bun:test";
import { isJsonObject, operationsOf } from "../harness/api-document.ts";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";

/**
 * Numbers and times that Postgres cannot hold are the caller's fault, told at their place. Of numbers the server's own OpenAPI
 * document says so for every operation: one is covered on the day it is added.
 */

let server: SharedServer;
let token: string;

/** Integers without a bound, and why they need none. */
const NEVER_STORED: Readonly<Record<string, string>> = {
  "POST /api/v1/alerts/{token} /orgId": "of a sender's own form: only that it is there counts",
  "POST /api/v1/alerts/{token} /truncatedAlerts": "of a sender's own form: it is kept as JSON",
  "POST /api/v1/logs/ingest /ts": "a time, whose range is judged where entries are read",
  "POST /api/v1/logs/ingest /*/ts": "a time, whose range is judged where entries are read",
  "POST /mcp /id": "it goes back as it came",
  "POST /services/collector/ack /acks/*": "it goes back as it came",
};

const TOO_LARGE = [2 ** 53, 2 ** 63, 1e19, 1e308];

beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
});

async function send(
  method: string,
  path: string,
  json?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: Object(await response.json()) };
}

/** The places of a schema's integers that have no bound within those that are exact in JSON. */
function unbounded(schema: unknown, at = ""): string[] {
  if (!isJsonObject(schema)) return [];
  const { type, maximum, exclusiveMaximum, anyOf, oneOf, items, additionalProperties } = schema;
  const most = maximum ?? exclusiveMaximum;
  const isOpen = type === "integer" && !("const" in schema) && !("enum" in schema);
  const own = isOpen && !(typeof most === "number" && most <= Number.MAX_SAFE_INTEGER) ? [at] : [];
  const within = [anyOf, oneOf].flatMap((branches) =>
    Array.isArray(branches) ? branches.flatMap((branch: unknown) => unbounded(branch, at)) : [],
  );
  const named = [schema.properties, schema.patternProperties].flatMap((members) =>
    isJsonObject(members)
      ? Object.entries(members).flatMap(([name, member]) => unbounded(member, `${at}/${name}`))
      : [],
  );
  return [
    ...own,
    ...within,
    ...named,
    ...[items, additionalProperties].flatMap((each) => unbounded(each, `${at}/*`)),
  ];
}

describe("a whole number", () => {
  test("has a bound in every body and every query of the document", async () => {
    const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json();
    const operations = operationsOf(document);
    const found = operations.flatMap(({ method, path, parameters, requestBody }) => [
      ...parameters
        .filter((parameter) => parameter.in === "query")
        .flatMap(({ name, schema }) => unbounded(schema, `${method} ${path} ?${name}`)),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        unbounded(schema, "").map((place) => `${method} ${path} ${place}`),
      ),
    ]);
    expect(operations.length).toBeGreaterThan(200);
    expect([...new Set(found)].sort()).toEqual(Object.keys(NEVER_STORED).sort());
  });

  test.each<[string, string, (id: number) => object, string]>([
    ["POST", "/incidents", (id) => ({ title: "x", escalationPolicyId: id }), "/escalationPolicyId"],
    ["POST", "/incidents", (id) => ({ title: "x", monitorIds: [id] }), "/monitorIds/0"],
    ["POST", "/cases", (id) => ({ title: "x", assigneeUserId: id }), "/assigneeUserId"],
    ["PATCH", "/cases/1", (id) => ({ assigneeUserId: id }), "/assigneeUserId"],
    ["POST", "/cases", (id) => ({ title: "x", incidentIds: [id] }), "/incidentIds/0"],
    ["POST", "/cases/1/incidents", (id) => ({ incidentId: id }), "/incidentId"],
    ["POST", "/cases/1/merge", (id) => ({ into: id }), "/into"],
    [
      "POST",
      "/escalation-policies",
      (id) => ({ name: "x", steps: [{ type: "user", delaySec: 0, userId: id }] }),
      "/steps/0/userId",
    ],
    [
      "POST",
      "/escalation-policies",
      (id) => ({ name: "x", steps: [{ type: "schedule", delaySec: 0, scheduleId: id }] }),
      "/steps/0/scheduleId",
    ],
    ["PATCH", "/on-call/schedules/1/rotations/1", (id) => ({ userId: id }), "/userId"],
    ["PATCH", "/on-call/schedules/1/rotations/1", (id) => ({ overrideUserId: id }), "/overrideUserId"],
    ["POST", "/log-alerts", (id) => ({ name: "x", escalationPolicyId: id }), "/escalationPolicyId"],
    ["POST", "/log-alerts/preview", (id) => ({ name: "x", escalationPolicyId: id }), "/escalationPolicyId"],
    ["PATCH", "/correlation-rules/1", (id) => ({ escalationPolicyId: id }), "/escalationPolicyId"],
    ["POST", "/alert-receivers", (id) => ({ name: "x", escalationPolicyId: id }), "/escalationPolicyId"],
    [
      "POST",
      "/metric-alerts",
      (id) => ({ name: "x", metricName: "x", threshold: 1, escalationPolicyId: id }),
      "/escalationPolicyId",
    ],
    ["PUT", "/me/alert-channels", (id) => ({ escalationPolicyId: id }), "/escalationPolicyId"],
  ])("that is too large for an id is 400 in %s %s", async (method, path, bodyWith, pointer) => {
    for (const id of TOO_LARGE)
      expect([id, await send(method, path, bodyWith(id))]).toMatchObject([
        id,
        { status: 400, body: { code: "VALIDATION_FAILED", fields: [{ path: pointer, code: "too_big" }] } },
      ]);
  });
});

describe("a time", () => {
  const OUTSIDE = [
    "0000-12-31T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "0099-12-31T23:59:59Z",
    "9999-12-31T23:59:59-01:00",
    "9999-12-31T23:59:59.9999Z",
  ];
  const INSIDE = ["0100-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"];
  const TURN = { userId: 1, startsAt: "2026-03-02T09:00:00Z", endsAt: "2026-03-09T09:00:00Z" };
  const turns = { userIds: [1], everyDays: 7, handoff: "09:00" };
  const rotations = "/on-call/schedules/1/rotations";

  test.each<[string, string, object, readonly string[]]>([
    ["POST", "/iocs", { type: "ip", value: "5.5.5.7" }, ["expiresAt"]],
    ["PATCH", "/iocs/1", {}, ["expiresAt"]],
    ["POST", rotations, TURN, ["startsAt", "endsAt", "overrideStartsAt", "overrideEndsAt"]],
    ["PATCH", `${rotations}/1`, {}, ["startsAt", "endsAt", "overrideStartsAt", "overrideEndsAt"]],
    [
      "POST",
      `${rotations}/generate`,
      { ...turns, from: TURN.startsAt, until: TURN.endsAt },
      ["from", "until"],
    ],
    [
      "POST",
      "/maintenance-windows",
      { startsAt: TURN.startsAt, endsAt: TURN.endsAt },
      ["startsAt", "endsAt"],
    ],
    ["PATCH", "/maintenance-windows/1", {}, ["startsAt", "endsAt"]],
    ["POST", "/silences", { source: "rule", endsAt: TURN.endsAt }, ["startsAt", "endsAt"]],
    ["POST", "/cases/1/evidence", { kind: "text", ref: "x" }, ["eventAt"]],
    ["POST", "/me/tokens", { name: "x" }, ["expiresAt"]],
  ])("that Postgres cannot give back is 400 in %s %s %j", async (method, path, body, names) => {
    for (const name of names)
      for (const time of OUTSIDE)
        expect([time, await send(method, path, { ...body, [name]: time })]).toMatchObject([
          time,
          {
            status: 400,
            body: {
              code: "VALIDATION_FAILED",
              fields: [{ path: `/${name}`, code: "custom", message: "is out of range" }],
            },
          },
        ]);
  });

  test("at the edge of those that it holds comes out as it went in", async () => {
    for (const expiresAt of INSIDE) {
      const made = await send("POST", "/iocs", { type: "ip", value: "45.33.32.156", expiresAt });
      expect(made).toMatchObject({ body: { expiresAt } });
      expect(await send("GET", `/iocs/${made.body.id}`)).toMatchObject({ status: 200, body: { expiresAt } });
    }
    const [startsAt, endsAt] = INSIDE;
    const window = await send("POST", "/maintenance-windows", { startsAt, endsAt });
    expect(window).toMatchObject({ status: 201, body: { startsAt, endsAt } });
  });

  test("from which it cannot be looked ahead is 400 where pages are simulated", async () => {
    for (const at of ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
      expect(await send("GET", `/on-call/simulate?policyId=1&at=${at}`)).toMatchObject({
        status: 400,
        body: { fields: [{ path: "/at" }] },
      });
  });
});
