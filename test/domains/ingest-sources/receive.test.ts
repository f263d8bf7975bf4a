import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type Instance, openSourceSuite, type SourceSuite } from "./source-server.ts";

let stores: TestStores;
let suite: SourceSuite;
let instance: Instance;
/** The instances remember by this clock. */
let clockAheadMs = 0;

beforeAll(async () => {
  stores = await openTestStores();
  suite = await openSourceSuite(stores, () => Date.now() + clockAheadMs);
  instance = suite.instance();
});
afterAll(async () => {
  await instance.activity.settled(180_000);
  await suite.close();
  await stores.close();
});

/** A source `shop` in an organisation of its own, and calls as a member of it. */
async function shop(more: object = {}) {
  const organizationId = await suite.makeOrganization();
  const call: Instance["call"] = (method, path, options) =>
    instance.call(method, path, { organizationId, ...options });
  const made = await call("POST", "sources", { json: { sourceKey: "shop", name: "Shop", ...more } });
  expect(made.status).toBe(201);
  const source = async () => (await call("GET", "sources/shop")).body;
  const change = async (json: object) => {
    const changed = await call("PATCH", "sources/shop", { json });
    expect(changed.status).toBe(200);
    return changed.body;
  };
  return { organizationId, call, source, change, send: (json: unknown) => call("POST", "shop", { json }) };
}

const MAPPING = {
  timestamp: { from: "at", parse: "epoch_ms" },
  fields: {
    message: { from: "text" },
    level: { from: "sev", map: { "3": "error" } },
    shop: { const: "north" },
  },
};
const GOOD = { at: 1_790_000_000_123, text: "paid", sev: 3, order: { id: 7 } };

describe("records of a source", () => {
  test("are kept whole or not at all when they cannot be mapped, and the answer says which", async () => {
    const { organizationId, send } = await shop({ mapping: MAPPING });
    const kept = { at: "yesterday", text: "x".repeat(900_000) };
    const answer = await send([kept, { at: "yesterday", text: "x".repeat(1_100_000) }]);
    expect(answer).toMatchObject({
      status: 202,
      body: { accepted: 0, rejected: 1, quarantined: 1, errors: [{ place: "/0" }, { place: "/1" }] },
    });
    expect(JSON.stringify(answer.body)).toContain("the record is too large to be kept");
    const rows = await stores.postgres<{ raw: Uint8Array; raw_bytes: number }[]>`
      SELECT raw, raw_bytes FROM quarantine_records WHERE organization_id = ${organizationId}`;
    expect(rows.map(({ raw }) => Buffer.from(raw).toString())).toEqual([JSON.stringify(kept)]);
  });

  test("are taken in where the source's own address became that of something else", async () => {
    const { organizationId, call } = await shop({ mapping: MAPPING });
    // As it was made before such keys were refused.
    await stores.postgres`
      UPDATE ingest_sources SET source_key = 'rules' WHERE organization_id = ${organizationId}`;
    expect(await call("POST", "sources/rules/records", { json: [GOOD] })).toMatchObject({
      status: 202,
      body: { accepted: 1 },
    });
  });

  test("are mapped and stored; what cannot be mapped is kept in the quarantine with its place", async () => {
    const { organizationId, send } = await shop({ mapping: MAPPING });
    const answer = await send([GOOD, { at: "yesterday", text: "late" }, "text", { at: 1 }]);
    expect(answer).toMatchObject({
      status: 202,
      body: {
        accepted: 1,
        duplicates: 0,
        rejected: 0,
        quarantined: 3,
        errors: [
          { place: "/1", reason: "what stands at `at` cannot be read as a time (epoch_ms)" },
          { place: "/2", reason: "the record is no JSON object" },
          { place: "/3", reason: "there is no message at `text`" },
        ],
      },
    });
    expect(await suite.stored(organizationId, 1)).toEqual([
      { message: "paid", level: "error", service: "", attrs: { shop: "north", "order.id": "7" } },
    ]);
    const kept = await stores.postgres<{ source_key: string; raw: Uint8Array }[]>`
      SELECT source_key, raw FROM quarantine_records WHERE organization_id = ${organizationId} ORDER BY id`;
    expect(kept.map(({ source_key, raw }) => [source_key, Buffer.from(raw).toString()])).toEqual([
      ["shop", '{"at":"yesterday","text":"late"}'],
      ["shop", '"text"'],
      ["shop", '{"at":1}'],
    ]);
  });

  test("are lines of text that are recognised, stacks with their heads", async () => {
    const { organizationId, call } = await shop({ format: "text", mapping: { zone: "Europe/Berlin" } });
    const body =
      "2026-03-04 10:15:30,123 ERROR [main] a.b.C: cannot open\njava.io.IOException: x\n\tat a.b.C(D.java:1)\nhello\n";
    const answer = await call("POST", "shop", { body });
    expect(answer).toMatchObject({ status: 202, body: { accepted: 2, rejected: 0, quarantined: 0 } });
    const stored = await suite.stored(organizationId, 2);
    expect(stored.toSorted((a, b) => (a.level < b.level ? 1 : -1))).toEqual([
      {
        message: "cannot open\njava.io.IOException: x\n\tat a.b.C(D.java:1)",
        level: "error",
        service: "",
        attrs: { "thread.name": "main", logger: "a.b.C" },
      },
      { message: "hello", level: "", service: "", attrs: {} },
    ]);
  });

  test("are counted", async () => {
    const { send, source } = await shop({ mapping: MAPPING });
    await send([GOOD, GOOD, {}]);
    await send(GOOD);
    await instance.activity.settled(180_000);
    expect(await source()).toMatchObject({
      accepted: 3,
      quarantined: 1,
      rejected: 0,
      lastReceivedAt: expect.any(String),
    });
  });

  test("are read as the well-known keys say where there is no mapping", async () => {
    const { organizationId, send } = await shop();
    expect((await send({ msg: "hello", level: "warn", service: "web", n: 1 })).body.accepted).toBe(1);
    expect(await suite.stored(organizationId, 1)).toEqual([
      { message: "hello", level: "warn", service: "web", attrs: { n: "1" } },
    ]);
  });

  test("are taken out of what wraps them, in lines, packed, and with any content type", async () => {
    const { organizationId, call } = await shop({ mapping: { records: "data.items" } });
    const wrapped = JSON.stringify({ data: { items: [{ msg: "a" }, { msg: "b" }] } });
    const lines = `\uFEFF${wrapped}\r\n\n{"msg":"c"}\nnot json\n[{"msg":"d"},{"data":{"items":[{"msg":"e"},5]}}]`;
    const answer = await call("POST", "shop", {
      body: gzipSync(lines),
      headers: { "content-type": "application/x-ndjson; charset=utf-8", "content-encoding": "gzip" },
    });
    expect(answer.body).toMatchObject({
      accepted: 5,
      quarantined: 2,
      errors: [
        { place: "line 4", reason: "the line is not valid JSON" },
        { place: "line 5 /1/data/items/1", reason: "the record is no JSON object" },
      ],
    });
    await call("POST", "shop", {
      body: wrapped,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    const stored = await suite.stored(organizationId, 7);
    expect(stored.map(({ message }) => message)).toEqual(["a", "a", "b", "b", "c", "d", "e"]);
  });

  test("may be few, deep or broken", async () => {
    const { call, send } = await shop({ mapping: MAPPING });
    expect((await send([])).body).toMatchObject({ accepted: 0, quarantined: 0 });
    for (const body of ["", "{", "[1,", '{"a":1} {"b":2}'])
      expect(await call("POST", "shop", { body })).toMatchObject({
        status: 400,
        body: { code: "VALIDATION_FAILED" },
      });
    const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
    expect((await call("POST", "shop", { body: `[${deep},${JSON.stringify(GOOD)}]` })).body).toMatchObject({
      accepted: 1,
      quarantined: 1,
      errors: [{ place: "/0", reason: "the record nests deeper than 32 levels" }],
    });
    const bottomless = "[".repeat(100_000) + "]".repeat(100_000);
    expect((await call("POST", "shop", { body: bottomless })).status).toBe(400);
  });

  test("of CEF are mapped over what CEF says", async () => {
    const line = (severity: number) =>
      `CEF:0|Example|Gate|1.0|100|door opened|${severity}|suser=ana src=192.0.2.7 msg=north door`;
    const { organizationId, call, change } = await shop({ format: "cef" });
    await call("POST", "shop", { body: `${line(9)}\nno cef` });
    await change({ mapping: { fields: { service: { const: "doors" }, message: { from: "name" } } } });
    const answer = await call("POST", "shop", { body: `${line(3)}\nno cef` });
    expect(answer.body).toMatchObject({ accepted: 1, quarantined: 1, errors: [{ place: "line 2" }] });
    const [mapped, plain] = await suite.stored(organizationId, 2);
    expect([mapped?.message, plain?.message]).toEqual(["door opened", "north door"]);
    expect([mapped?.service, plain?.service]).toEqual(["doors", ""]);
    expect([mapped?.level, plain?.level]).toEqual(["info", "fatal"]);
    expect(mapped?.attrs).toMatchObject({ deviceVendor: "Example", sourceUserName: "ana" });
  });

  test("sent again under the same Idempotency-Key are stored once", async () => {
    const { organizationId, call, source } = await shop({ mapping: MAPPING });
    const options = { json: [GOOD, {}], headers: { "idempotency-key": "k-1" } };
    const first = await call("POST", "shop", options);
    const again = await call("POST", "shop", options);
    expect([first.headers.get("idempotent-replayed"), again.headers.get("idempotent-replayed")]).toEqual([
      null,
      "true",
    ]);
    await suite.stored(organizationId, 1);
    await instance.activity.settled(180_000);
    expect(await source()).toMatchObject({ accepted: 1, quarantined: 1 });
  });
});

describe("a sender that cannot set a bearer token", () => {
  test("sends it as the password of Basic authentication, or in the address", async () => {
    const { organizationId, call } = await shop();
    const token = `member-${organizationId}`;
    const headers = { authorization: `Basic ${Buffer.from(`anybody:${token}`).toString("base64")}` };
    const json = { msg: "x" };
    expect((await call("POST", "shop", { token: null, headers, json })).status).toBe(202);
    expect((await call("POST", `shop?token=${token}`, { token: null, json })).status).toBe(202);
    expect((await call("POST", "shop", { token: null, json })).status).toBe(401);
    expect((await call("POST", "shop?tokn=1", { json })).status).toBe(400);
    expect(JSON.stringify(instance.logged())).not.toContain(token);
  });
});

describe("the status of a source", () => {
  test("disabled: records are refused before they are read", async () => {
    const { send, change } = await shop();
    await change({ status: "disabled" });
    expect(await send({ msg: "x" })).toMatchObject({ status: 409, body: { code: "SOURCE_DISABLED" } });
    await change({ status: "active" });
    expect((await send({ msg: "x" })).status).toBe(202);
  });

  test("learning: everything is stored as it came, and the last records show what the mapping would make of them", async () => {
    const { organizationId, call, source, change } = await shop({ mapping: MAPPING });
    await change({ status: "learning" });
    const answer = await call("POST", "shop", { json: [GOOD, { at: "x" }, 17] });
    expect(answer.body).toMatchObject({ accepted: 3, quarantined: 0, rejected: 0 });
    expect((await call("POST", "shop", { body: "plain text\nof two lines" })).body.accepted).toBe(2);
    expect(await suite.stored(organizationId, 5)).toEqual([
      { message: "17", level: "", service: "", attrs: {} },
      expect.objectContaining({ message: "of two lines" }),
      expect.objectContaining({ message: "plain text" }),
      { message: '{"at":"x"}', level: "", service: "", attrs: { at: "x" } },
      expect.objectContaining({ message: JSON.stringify(GOOD) }),
    ]);
    await instance.activity.settled(180_000);
    const learned = await source();
    expect(learned).toMatchObject({ status: "learning", accepted: 5 });
    expect(learned.samples).toMatchObject([
      {
        sample: JSON.stringify(GOOD),
        entry: { message: "paid", level: "error", ts: "2026-09-21T14:13:20.123Z" },
        problem: null,
      },
      { sample: '{"at":"x"}', entry: null, problem: expect.stringContaining("cannot be read as a time") },
      { sample: "17", entry: null, problem: "the record is no JSON object" },
    ]);
    await change({ mapping: { messageTemplate: "order {order.id}" } });
    expect((await source()).samples).toMatchObject([
      { entry: { message: "order 7" } },
      { entry: {} },
      { entry: null },
    ]);
    await change({ status: "active" });
    expect((await source()).samples).toEqual([]);
  });

  test("learning: the first records of a body for another thread are shown as well, and bad ones are kept", async () => {
    const { organizationId, call, source, change } = await shop({ mapping: MAPPING });
    const padding = { at: "x", padding: "p".repeat(300_000) };
    expect((await call("POST", "shop", { json: [GOOD, padding, 17] })).body).toMatchObject({
      accepted: 1,
      quarantined: 2,
      errors: [{ place: "/1" }, { place: "/2", reason: "the record is no JSON object" }],
    });
    expect(await suite.stored(organizationId, 1)).toMatchObject([{ message: "paid" }]);
    await change({ status: "learning" });
    expect((await call("POST", "shop", { json: [17, 18, padding] })).body).toMatchObject({ accepted: 3 });
    await instance.activity.settled(180_000);
    expect((await source()).samples).toMatchObject([{ sample: "17" }, { sample: "18" }]);
  });

  test("learning: CEF is stored line by line, and shown as the mapping would have it", async () => {
    const line = "CEF:0|Example|Gate|1.0|100|door opened|3|suser=ana msg=north door";
    const { organizationId, call, source, change } = await shop({ format: "cef" });
    await change({ status: "learning", mapping: { fields: { host: { from: "sourceUserName" } } } });
    expect((await call("POST", "shop", { body: `${line}\r\nno cef\n` })).body).toMatchObject({
      accepted: 2,
      quarantined: 0,
    });
    const stored = await suite.stored(organizationId, 2);
    expect(stored).toMatchObject([
      { message: line, level: "", attrs: { sourceUserName: "ana" } },
      { message: "no cef" },
    ]);
    await instance.activity.settled(180_000);
    expect((await source()).samples).toMatchObject([
      { sample: "no cef", entry: null, problem: "the line has no CEF header" },
      { sample: line, entry: { message: "north door", level: "info", host: "ana" }, problem: null },
    ]);
  });

  test("error: set when nothing can be mapped for a while, and left when records can be mapped again", async () => {
    const { organizationId, send, source } = await shop({ mapping: MAPPING });
    const bad = Array.from({ length: 6 }, () => ({ at: "never" }));
    await send(bad);
    await send(bad);
    await instance.activity.settled(180_000);
    expect((await source()).status).toBe("active");
    await send([...bad, GOOD]);
    for (let i = 0; i < 3; i++) await send(bad);
    await instance.activity.settled(180_000);
    expect(await source()).toMatchObject({
      status: "error",
      statusReason:
        "The last 18 records could not be mapped: what stands at `at` cannot be read as a time (epoch_ms).",
      quarantined: 36,
    });
    // Nothing is lost while it is in error.
    instance.sources.forget(organizationId, "shop");
    expect((await send(bad)).body).toMatchObject({ accepted: 0, quarantined: 6 });
    expect((await send(GOOD)).body).toMatchObject({ accepted: 1 });
    await instance.activity.settled(180_000);
    expect(await source()).toMatchObject({ status: "active", statusReason: null, accepted: 2 });
  });

  test("error: is not set on a source that was changed meanwhile, and is taken away by hand", async () => {
    const { send, source, change } = await shop({ mapping: MAPPING });
    const bad = Array.from({ length: 6 }, () => ({ at: "never" }));
    for (let i = 0; i < 3; i++) await send(bad);
    await change({ mapping: {} });
    await instance.activity.settled(180_000);
    expect((await source()).status).toBe("active");
    await change({ status: "error" });
    expect(await change({ status: "active" })).toMatchObject({ status: "active", statusReason: null });
  });
});

describe("several instances", () => {
  test("see a change once half a second is over, and their counts add up", async () => {
    const other = suite.instance();
    const { organizationId, call, source, change } = await shop();
    const toOther = () => other.call("POST", "shop", { organizationId, json: { text: "there" } });
    expect((await toOther()).status).toBe(202);
    await change({ mapping: { fields: { message: { from: "text" }, service: { const: "new" } } } });
    clockAheadMs += 500;
    expect((await toOther()).status).toBe(202);
    await call("POST", "shop", { json: { text: "here" } });
    await Promise.all([instance.activity.settled(180_000), other.activity.settled(180_000)]);
    expect(await source()).toMatchObject({ accepted: 3 });
    const stored = await suite.stored(organizationId, 3);
    expect(stored.map(({ message, service }) => [message, service])).toEqual([
      ["here", "new"],
      ["there", "new"],
      ['{"text":"there"}', ""],
    ]);
    await change({ status: "disabled" });
    clockAheadMs += 500;
    expect((await toOther()).status).toBe(409);
    await call("DELETE", "sources/shop");
    clockAheadMs += 500;
    expect((await toOther()).status).toBe(404);
  });

  test("have the decoder of a source's present mapping for the quarantine", async () => {
    const { organizationId, change } = await shop({ mapping: MAPPING });
    const before = await instance.sources.recordDecoderOf(organizationId, "shop");
    expect(await instance.sources.recordDecoderOf(organizationId, "shop")).toBe(before);
    await change({ mapping: {}, status: "disabled" });
    const after = await instance.sources.recordDecoderOf(organizationId, "shop");
    expect(after).not.toBe(before);
    expect(await instance.sources.recordDecoderOf(organizationId, "nobody")).toBeNull();
  });
});
