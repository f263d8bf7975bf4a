/** Cases over a whole server: what belongs to them comes from incidents, people and logs, and stays. */
import { beforeAll, expect, test } from "bun:test";
import { Marked } from "marked";
import { readZip } from "../domains/export/read-zip.ts";
import { eventually } from "../harness/eventually.ts";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";

interface Shown {
  id: number;
  status: string;
  disposition: string | null;
  assigneeUserId: number | null;
  incidentIds: number[];
  containedAt: string | null;
  closedAt: string | null;
  timeToContainSec: number | null;
  timeToCloseSec: number | null;
  mergedInto: number | null;
  notes: { kind: string; body: string }[];
  evidence: { kind: string; ref: string; snapshot: Record<string, unknown> | null; eventAt: string | null }[];
  observables: { type: string; value: string }[];
  similarCases: { id: number; shared: number }[];
  timeline: { happenedAt: string | null; knownAt: string; kind: string; text: string }[];
}

interface Page {
  items: Shown[];
  nextCursor: string | null;
}

let server: SharedServer;
let token: string;
let foreign: string;

beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
  foreign = await makeToken(server.url);
});

async function call<T>(method: string, path: string, json?: unknown, as = token) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const body: T = isJson ? JSON.parse(text) : text;
  return { status: response.status, body };
}

async function made(fields: object = {}): Promise<Shown> {
  const { status, body } = await call<Shown>("POST", "/cases", { title: "Strange sign-ins", ...fields });
  expect(status).toBe(201);
  return body;
}

const incident = async (as = token) =>
  (await call<{ id: number }>("POST", "/incidents", { title: "Sign-ins fail" }, as)).body.id;

async function shippedEntry(message: string): Promise<string> {
  const ts = "2026-01-02T03:04:05.000Z";
  expect((await call("POST", "/logs/ingest", { message, ts, attrs: { peer: "203.0.113.9" } })).status).toBe(
    202,
  );
  return eventually("the entry is found", async () => {
    const q = encodeURIComponent(`"${message}"`);
    const { body } = await call<{ entries: { id: string }[] }>(
      "GET",
      `/logs/search?from=2026-01-01T00:00:00Z&q=${q}`,
    );
    const [entry] = body.entries;
    return entry?.id;
  });
}

test("a case keeps its incidents, notes and changes, and measures how long it took", async () => {
  const [first, second] = [await incident(), await incident()];
  const { id } = await made({ incidentIds: [first], severity: "high" });
  await call("POST", `/cases/${id}/incidents`, { incidentId: second });
  await call("POST", `/cases/${id}/incidents`, { incidentId: second });
  await call("POST", `/cases/${id}/notes`, { body: "The account was locked." });
  const contained = await call<Shown>("PATCH", `/cases/${id}`, { status: "contained" });
  expect(contained.body).toMatchObject({ status: "contained", incidentIds: [first, second], closedAt: null });
  const closed = await call<Shown>("PATCH", `/cases/${id}`, {
    status: "closed",
    disposition: "true_positive",
  });
  expect(closed.body.containedAt).toBe(contained.body.containedAt);
  // Both count from when the case was made.
  expect(closed.body.timeToContainSec).toBeGreaterThanOrEqual(0);
  expect(closed.body.timeToCloseSec).toBeGreaterThanOrEqual(closed.body.timeToContainSec ?? 0);
  expect(closed.body.notes.map(({ kind, body }) => [kind, body])).toEqual([
    ["note", "The account was locked."],
    ["change", "status: open → contained"],
    ["change", "status: contained → closed"],
    ["change", "disposition: none → true_positive"],
  ]);
  const reopened = await call<Shown>("PATCH", `/cases/${id}`, { status: "investigating", disposition: null });
  expect(reopened.body).toMatchObject({ closedAt: null, containedAt: null, timeToCloseSec: null });
  const { body: listed } = await call<Page>("GET", `/cases?incident=${first}&status=active`);
  expect(listed).toMatchObject({ items: [{ id, incidentIds: [first, second] }], nextCursor: null });
});

test("evidence is a copy that outlives what it was made of, in its place by when it happened", async () => {
  const message = `login from 198.51.100.4 with ${"a".repeat(64)} at https://evil.example.net/x`;
  const ref = await shippedEntry(message);
  const one = await made();
  const { status, body } = await call<Shown>("POST", `/cases/${one.id}/evidence`, { kind: "log", ref });
  expect(status).toBe(201);
  expect(body.evidence).toMatchObject([
    {
      kind: "log",
      ref,
      snapshot: { message, attrs: { peer: "203.0.113.9" } },
      eventAt: "2026-01-02T03:04:05.000Z",
    },
  ]);
  expect(body.timeline[0]).toMatchObject({
    happenedAt: "2026-01-02T03:04:05.000Z",
    kind: "evidence",
    text: message,
  });
  expect(body.observables).toEqual([
    { type: "domain", value: "evil.example.net" },
    { type: "hash", value: "a".repeat(64) },
    { type: "ip", value: "198.51.100.4" },
    { type: "ip", value: "203.0.113.9" },
  ]);
  await call("POST", `/cases/${one.id}/evidence`, { kind: "log", ref });
  const other = await made({ title: "Another" });
  await call("POST", `/cases/${other.id}/evidence`, { kind: "text", ref: "seen 198.51.100.4 in the proxy" });
  const { body: again } = await call<Shown>("GET", `/cases/${one.id}`);
  expect(again.evidence).toHaveLength(1);
  expect(again.similarCases).toMatchObject([{ id: other.id, shared: 1 }]);
});

test("what is let pass makes no cases similar, and what only looks like it does", async () => {
  const of = async (ref: string) => {
    const { id } = await made();
    await call("POST", `/cases/${id}/evidence`, { kind: "text", ref });
    return id;
  };
  const named = "collector.own.example 198.51.100.77 notown.example";
  const [one, other] = [await of(named), await of(named)];
  const shared = async () => {
    const { body } = await call<Shown>("GET", `/cases/${one}`);
    return body.similarCases.find(({ id }) => id === other)?.shared;
  };
  expect(await shared()).toBe(3);
  for (const entry of [
    { type: "domain", value: "own.example" },
    { type: "ip", value: "198.51.100.0/24" },
  ])
    expect((await call("POST", "/iocs/allow-list", entry)).status).toBe(201);
  expect(await shared()).toBe(1);
});

test("what is not the organisation's is no part of a case, and changes nothing", async () => {
  const theirs = await incident(foreign);
  const { id } = await made();
  const refused = async (method: string, path: string, json: object, at: string) => {
    const { status, body } = await call<{ code: string; fields: { path: string }[] }>(method, path, json);
    expect({ status, at: body.fields?.[0]?.path }).toEqual({ status: 400, at });
  };
  await refused("POST", "/cases", { title: "x", incidentIds: [theirs] }, "/incidentIds/0");
  await refused("POST", "/cases", { title: "x", assigneeUserId: 999_999 }, "/assigneeUserId");
  await refused("POST", `/cases/${id}/incidents`, { incidentId: theirs }, "/incidentId");
  await refused("POST", `/cases/${id}/evidence`, { kind: "incident", ref: String(theirs) }, "/ref");
  await refused("POST", `/cases/${id}/evidence`, { kind: "log", ref: "1" }, "/ref");
  await refused("POST", `/cases/${id}/evidence`, { kind: "detection", ref: "no number" }, "/ref");
  await refused("PATCH", `/cases/${id}`, { disposition: "maybe" }, "/disposition");
  await refused("POST", `/cases/${id}/merge`, { into: id }, "/into");
  await refused("POST", `/cases/${id}/merge`, { into: 999_999 }, "/into");
  expect((await call<Shown>("GET", `/cases/${id}`)).body).toMatchObject({
    incidentIds: [],
    evidence: [],
    notes: [],
  });
});

test("a case that is merged is closed as a duplicate, and another one goes on with what belongs to it", async () => {
  const [mine, other] = [await incident(), await incident()];
  const into = await made({ incidentIds: [mine] });
  const { id } = await made({ incidentIds: [mine, other] });
  await call("POST", `/cases/${id}/notes`, { body: "Seen twice." });
  await call("POST", `/cases/${id}/evidence`, { kind: "text", ref: "192.0.2.55" });
  const { body: merged } = await call<Shown>("POST", `/cases/${id}/merge`, { into: into.id });
  expect(merged.incidentIds).toEqual([mine, other]);
  expect(merged.notes.map(({ body }) => body)).toEqual([
    "Seen twice.",
    `Case ${id} was merged into this one.`,
  ]);
  expect(merged.evidence.map(({ ref }) => ref)).toEqual(["192.0.2.55"]);
  expect((await call<Shown>("GET", `/cases/${id}`)).body).toMatchObject({
    ...{ status: "closed", disposition: "duplicate", mergedInto: into.id },
  });
  expect((await call("PATCH", `/cases/${id}`, { status: "open" })).status).toBe(409);
  expect((await call("POST", `/cases/${into.id}/merge`, { into: id })).status).toBe(409);
});

test("pages hold every case once, newest first, and go on under the filters that they began with", async () => {
  const about = await incident();
  const of = async (fields: object) => (await made(fields)).id;
  const ids = [];
  for (let n = 0; n < 5; n++) {
    ids.unshift(await of({ incidentIds: [about] }));
    await of({});
  }
  const list = `/cases?incident=${about}&limit=2`;
  const seen: number[] = [];
  const cursors: string[] = [];
  let next: string | null = "";
  while (next !== null) {
    const from: string = next === "" ? "" : `&cursor=${encodeURIComponent(next)}`;
    const { body }: { body: Page } = await call<Page>("GET", `${list}${from}`);
    seen.push(...body.items.map(({ id }) => id));
    if (body.nextCursor !== null) cursors.push(body.nextCursor);
    next = body.nextCursor;
    // What is made meanwhile is newer than every page that follows.
    await of({ incidentIds: [about] });
  }
  expect(seen).toEqual(ids);
  expect(cursors).toHaveLength(2);
  const refused = async (path: string, as = token) => {
    const { status, body } = await call<{ fields: { path: string }[] }>("GET", path, undefined, as);
    expect({ status, at: body.fields?.[0]?.path }).toEqual({ status: 400, at: "/cursor" });
  };
  const cursor = encodeURIComponent(cursors[0] ?? "");
  await refused(`/cases?limit=2&cursor=${cursor}`);
  await refused(`${list}&status=active&cursor=${cursor}`);
  await refused(`${list}&cursor=${cursor}`, foreign);
});

test("a case is deleted with all that belongs to it, and cases that were merged with it stay", async () => {
  const about = await incident();
  const { id: other } = await made({ title: "Another" });
  await call("POST", `/cases/${other}/evidence`, { kind: "text", ref: "192.0.2.71" });
  const { id: first } = await made();
  await call("POST", `/cases/${first}/evidence`, { kind: "text", ref: "192.0.2.70" });
  const { id: second } = await made();
  const { id: into } = await made({ title: "Deleted soon", severity: "high", incidentIds: [about] });
  await call("POST", `/cases/${into}/notes`, { body: "word-of-its-note" });
  await call("POST", `/cases/${into}/evidence`, { kind: "text", ref: "word-of-its-evidence 192.0.2.71" });
  for (const one of [first, second]) await call("POST", `/cases/${one}/merge`, { into });
  const similar = async () => (await call<Shown>("GET", `/cases/${other}`)).body.similarCases;
  expect(await similar()).toMatchObject([{ id: into }]);
  const entity = () => call<{ entity: object | null }>("GET", `/context/lookup?type=case&key=${into}`);
  expect((await entity()).body.entity).toMatchObject({ name: "Deleted soon" });

  expect((await call("DELETE", `/cases/${second}`)).status).toBe(204);
  expect((await call("GET", `/cases/${into}`)).status).toBe(200);
  expect((await call("DELETE", `/cases/${into}`, undefined, foreign)).status).toBe(404);
  expect(await call("DELETE", `/cases/${into}`)).toEqual({ status: 204, body: "" });
  for (const method of ["GET", "DELETE"])
    expect(await call(method, `/cases/${into}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });

  expect((await call<Shown>("GET", `/cases/${first}`)).body).toMatchObject({
    ...{ status: "closed", disposition: "duplicate", mergedInto: null },
    evidence: [{ ref: "192.0.2.70" }],
  });
  expect((await call("PATCH", `/cases/${first}`, { status: "open" })).status).toBe(200);
  expect((await call("GET", `/incidents/${about}`)).status).toBe(200);
  expect(await similar()).toEqual([]);
  expect((await entity()).body.entity).toBeNull();
  const { body: audited } = await call<{ items: object[] }>("GET", "/audit-logs?limit=100");
  expect(audited.items).toContainEqual(
    expect.objectContaining({
      ...{ action: "DELETE_CASE", resource: `case:${into}` },
      meta: expect.objectContaining({
        snapshot: expect.objectContaining({ id: into, title: "Deleted soon", severity: "high" }),
      }),
    }),
  );
  const archive = await fetch(`${server.url}/api/v1/export/account.zip`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const files = readZip(Buffer.from(await archive.arrayBuffer()));
  files.delete("audit-log.json");
  expect([...files.values()].join("\n")).not.toMatch(/word-of-its-|Deleted soon/);
});

test("a report is text in Markdown, whatever people and senders wrote", async () => {
  const evil = "<script>alert(1)</script> [a](javascript:alert(1)) `x` **b** # c\n# d";
  const { id } = await made({ title: evil, summary: evil });
  await call("POST", `/cases/${id}/notes`, { body: evil });
  await call("POST", `/cases/${id}/evidence`, { kind: "text", ref: evil });
  const { body } = await call<string>("GET", `/cases/${id}/export?format=markdown`);
  const html = await new Marked().parse(body);
  expect(html).not.toMatch(/<(?:script|a|strong|img)\b/);
  expect([...html.matchAll(/<h1/g)]).toHaveLength(1);
  const { body: json } = await call<Shown>("GET", `/cases/${id}/export`);
  expect(json.id).toBe(id);
});
