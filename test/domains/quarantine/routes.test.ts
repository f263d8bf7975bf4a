import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { quarantineRoutes } from "../../../src/domains/quarantine/routes.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  BOUNDS,
  batchOf,
  MendableDecoder,
  openQuarantineServer,
  type QuarantineServer,
  states,
  storedEntries,
} from "./quarantine-server.ts";

const PATH = "/api/v1/ingest/quarantine";
/** The organisation of every caller of a test app. */
const ORGANIZATION = 7;

let stores: TestStores;
let server: QuarantineServer;
let app: TestApp;
const decoder = new MendableDecoder();

beforeAll(async () => {
  stores = await openTestStores();
  await stores.postgres`
    INSERT INTO organizations (id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (7, 'ours', now()), (8, 'theirs', now())`;
  await stores.postgres`INSERT INTO users (email, created_at) VALUES ('ana@example.com', now())`;
  server = await openQuarantineServer({ stores, decoder });
  const routes = quarantineRoutes({
    sql: stores.postgres,
    replayer: server.replayer,
    bounds: BOUNDS,
    metrics: server.metrics.quarantine,
    cursorKey: new Uint8Array(32),
  });
  app = testApp(routes, { ledger: testLedger(stores.postgres) });
});
afterAll(async () => {
  await server.close();
  await stores.close();
});

beforeEach(async () => {
  decoder.isMended = false;
  await stores.postgres`TRUNCATE quarantine_records, quarantine_usage`;
});

interface Item {
  readonly id: number;
  readonly raw: string | null;
  readonly [name: string]: unknown;
}

async function get(path: string): Promise<Record<string, unknown>> {
  const response = await app.send("GET", `${PATH}${path}`, { as: "viewer/sources:read" });
  expect([path, response.status]).toEqual([path, 200]);
  return JSON.parse(await response.text());
}

async function list(search = ""): Promise<{ items: Item[]; nextCursor: string | null }> {
  const response = await app.send("GET", `${PATH}${search}`, { as: "viewer/sources:read" });
  expect([search, response.status]).toEqual([search, 200]);
  return JSON.parse(await response.text());
}

async function post(
  path: string,
  json: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await app.send("POST", `${PATH}${path}`, { as: "member/sources:write", json, headers });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function auditRows(): Promise<{ action: string; resource: string; meta: Record<string, unknown> }[]> {
  return stores.postgres`
    SELECT action, resource, meta FROM audit_log WHERE organization_id = ${ORGANIZATION} ORDER BY seq`;
}

test("records are listed newest first, page by page, with what is long cut and what is no text in base64", async () => {
  const texts = ["short", `long ${"é".repeat(2_000)}`, new Uint8Array([0xff, 0xfe, 0x00])];
  await server.quarantine.keep(batchOf(ORGANIZATION, texts, { sourceKey: "web" }));
  await server.quarantine.keep(batchOf(8, ["theirs"]));
  const { items, nextCursor } = await list();
  expect(nextCursor).toBeNull();
  expect(items.map(({ raw }) => raw?.slice(0, 10))).toEqual(["//4A", "long ééééé", "short"]);
  expect(items[0]).toMatchObject({ rawEncoding: "base64", rawIsCut: false, bytes: 3, place: "line 3" });
  expect(items[1]).toMatchObject({ rawEncoding: "utf8", rawIsCut: true, bytes: 4_005 });
  expect(items[1]?.raw).toBe(`long ${"é".repeat(509)}`);
  expect(items[2]).toMatchObject({
    sourceKey: "web",
    format: "mendable",
    reason: "has no message",
    state: "held",
    replayedAt: null,
    rawIsCut: false,
  });
  const whole = await get(`/${items[1]?.id}`);
  expect(whole).toMatchObject({ raw: texts[1], rawIsCut: false });

  const first = await list("?limit=2");
  expect(first.items.map(({ id }) => id)).toEqual(items.slice(0, 2).map(({ id }) => id));
  // What comes meanwhile is not on later pages.
  await server.quarantine.keep(batchOf(ORGANIZATION, ["later"]));
  const second = await list(`?limit=2&cursor=${first.nextCursor}`);
  expect(second.items.map(({ id }) => id)).toEqual([items[2]?.id ?? 0]);
  expect(second.nextCursor).toBeNull();
  for (const search of [
    `?limit=2&state=held&cursor=${first.nextCursor}`,
    "?cursor=forged",
    "?limit=0",
    "?x=1",
  ])
    expect((await app.send("GET", `${PATH}${search}`, { as: "member" })).status).toBe(400);
});

test("a list keeps to its filters, and the summary counts by source and reason", async () => {
  await server.quarantine.keep(batchOf(ORGANIZATION, ["a", "b"], { sourceKey: "web" }));
  await server.quarantine.keep(batchOf(ORGANIZATION, ["c"], { sourceKey: "web", reason: "Is 100% odd" }));
  await server.quarantine.keep(batchOf(ORGANIZATION, ["d"], { format: "platform-a" }));
  await server.quarantine.keep(batchOf(8, ["e"], { sourceKey: "web" }));
  const raws = async (search: string): Promise<unknown[]> => (await list(search)).items.map(({ raw }) => raw);
  expect(await raws("?sourceKey=web")).toEqual(["c", "b", "a"]);
  expect(await raws("?format=platform-a")).toEqual(["d"]);
  expect(await raws("?reason=100%25%20ODD")).toEqual(["c"]);
  expect(await raws("?reason=_")).toEqual([]);
  expect(await raws("?state=replayed")).toEqual([]);
  expect(await raws(`?from=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  expect(await raws(`?to=${new Date(Date.now() + 60_000).toISOString()}&sourceKey=web&limit=1`)).toEqual([
    "c",
  ]);
  expect(await get("/summary")).toMatchObject({
    records: 4,
    bytes: 4,
    ...BOUNDS,
    groups: [
      { sourceKey: "web", format: "mendable", reason: "has no message", records: 2 },
      { sourceKey: "web", format: "mendable", reason: "Is 100% odd", records: 1 },
      { sourceKey: null, format: "platform-a", reason: "has no message", records: 1 },
    ],
  });
});

test("a time of a filter may be any date-time and say more than milliseconds", async () => {
  await server.quarantine.keep(batchOf(ORGANIZATION, ["a"]));
  const [record] = (await list()).items;
  const at = String(record?.receivedAt);
  const after = at.replace("Z", "001Z");
  const found = async (search: string): Promise<number> => (await list(`?${search}`)).items.length;
  expect(await Promise.all([`from=${at}`, `to=${at}`].map(found))).toEqual([1, 0]);
  expect(await Promise.all([`from=${after}`, `to=${after}`].map(found))).toEqual([0, 1]);
  const earliest = ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00%2B23:59"];
  const latest = ["9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999999999Z"];
  for (const time of earliest)
    expect([await found(`from=${time}`), await found(`to=${time}`)]).toEqual([1, 0]);
  for (const time of latest) expect([await found(`from=${time}`), await found(`to=${time}`)]).toEqual([0, 1]);
});

test.each(["sourceKey", "format", "reason"])("a null character is refused as a %s", async (name) => {
  const refused = { code: "VALIDATION_FAILED", fields: [{ path: `/${name}` }] };
  const response = await app.send("GET", `${PATH}?${name}=a%00`, { as: "viewer/sources:read" });
  expect([response.status, JSON.parse(await response.text())]).toMatchObject([400, refused]);
  for (const path of ["/replay", "/discard"])
    expect(await post(path, { [name]: "a\0" })).toMatchObject({ status: 400, body: refused });
});

test("a replay is first tried and then done, both are audited, and a repetition of the call is answered the same", async () => {
  await server.quarantine.keep(batchOf(ORGANIZATION, ['{"text":"a"}', "[]"], { sourceKey: "web" }));
  decoder.isMended = true;
  const before = await auditRows();
  const tried = await post("/replay", { sourceKey: "web", dryRun: true });
  expect(tried).toMatchObject({
    status: 200,
    body: { dryRun: true, matched: 2, wouldAccept: 1, wouldReject: 1 },
  });
  expect(await states(stores, ORGANIZATION)).toEqual({ held: 2 });
  const headers = { "idempotency-key": "replay web" };
  const done = await post("/replay", { sourceKey: "web" }, headers);
  expect(done).toMatchObject({
    status: 200,
    body: {
      dryRun: false,
      matched: 2,
      replayed: 1,
      stillRejected: 1,
      remaining: 0,
      inProgress: 0,
      reasons: [{ reason: "is no JSON object", records: 1 }],
    },
  });
  expect(await post("/replay", { sourceKey: "web" }, headers)).toEqual(done);
  const audited = (await auditRows()).slice(before.length);
  expect(audited).toMatchObject([
    { action: "PREVIEW_QUARANTINE_REPLAY", meta: { sourceKey: "web", wouldAccept: 1 } },
    {
      action: "REPLAY_QUARANTINE",
      resource: "quarantine",
      meta: { sourceKey: "web", replayed: 1, matched: 2 },
    },
  ]);
  const { items } = await list("?state=replayed");
  expect(items).toMatchObject([{ raw: null, rawIsCut: false, bytes: 12, state: "replayed" }]);
  expect(items[0]?.replayedAt).toEqual(expect.any(String));
  const [held] = (await list("?state=held")).items;
  expect(held).toMatchObject({ reason: "is no JSON object" });
  for (const wrong of [{ ids: [] }, { ids: [0] }, { dryRun: 1 }, { from: "yesterday" }, { name: "x" }])
    expect((await post("/replay", wrong)).status).toBe(400);
});

test("records are discarded one by one or by a filter, are audited, and are gone", async () => {
  await server.quarantine.keep(batchOf(ORGANIZATION, ["a", "b", "c"], { sourceKey: "web" }));
  await server.quarantine.keep(batchOf(ORGANIZATION, ['{"text":"d"}']));
  await server.quarantine.keep(batchOf(8, ["theirs"], { sourceKey: "web" }));
  decoder.isMended = true;
  const { items } = await list();
  const [d, c] = items;
  await post("/replay", { ids: [d?.id] });
  const remove = (id: number | undefined) =>
    app.send("DELETE", `${PATH}/${id}`, { as: "member/sources:write" });
  expect((await remove(c?.id)).status).toBe(204);
  expect((await remove(c?.id)).status).toBe(404);
  // It is an entry now: what remembers that must not be lost.
  expect((await remove(d?.id)).status).toBe(409);
  const [theirs] = await stores.postgres<{ id: string }[]>`
    SELECT id FROM quarantine_records WHERE organization_id = 8`;
  expect((await remove(Number(theirs?.id))).status).toBe(404);
  expect((await app.send("GET", `${PATH}/${theirs?.id}`, { as: "member" })).status).toBe(404);
  expect((await post("/discard", {})).status).toBe(400);
  expect(await post("/discard", { sourceKey: "web" })).toEqual({
    status: 200,
    body: { discarded: 2, remaining: 0 },
  });
  expect(await get("/summary")).toMatchObject({ records: 0, bytes: 0, groups: [] });
  expect(await states(stores, 8)).toEqual({ held: 1 });
  expect((await auditRows()).slice(-2)).toMatchObject([
    {
      action: "DISCARD_QUARANTINE",
      resource: `quarantined-record:${c?.id}`,
      meta: { snapshot: { raw: "c" } },
    },
    {
      action: "DISCARD_QUARANTINE",
      resource: "quarantine",
      meta: { sourceKey: "web", discarded: 2, bytes: 2 },
    },
  ]);
  expect(await storedEntries(stores, 8)).toEqual([]);
});

test("looking needs a viewer with sources:read, doing something a member with sources:write", async () => {
  expect((await app.send("GET", PATH, { as: "owner/sources:write" })).status).toBe(403);
  expect((await app.send("POST", `${PATH}/replay`, { as: "owner/sources:read", json: {} })).status).toBe(403);
  expect((await app.send("POST", `${PATH}/replay`, { as: "viewer", json: {} })).status).toBe(403);
  expect((await app.send("POST", `${PATH}/discard`, { as: "viewer", json: { sourceKey: "x" } })).status).toBe(
    403,
  );
});
