import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type Instance, openSourceSuite, type SourceSuite } from "./source-server.ts";

let stores: TestStores;
let suite: SourceSuite;
let instance: Instance;

beforeAll(async () => {
  stores = await openTestStores();
  suite = await openSourceSuite(stores);
  instance = suite.instance();
});
afterAll(async () => {
  await instance.activity.settled(180_000);
  await suite.close();
  await stores.close();
});

const MAPPING = { timestamp: { from: "at", parse: "epoch_ms" }, fields: { message: { from: "text" } } };
let keys = 0;
const freshKey = (): string => `source-${++keys}`;

async function create(more: object = {}): Promise<string> {
  const sourceKey = freshKey();
  const { status, body } = await instance.call("POST", "sources", {
    json: { sourceKey, name: "a source", ...more },
  });
  expect([status, body]).toEqual([201, expect.anything()]);
  return sourceKey;
}

describe("a source", () => {
  test("is made, listed, read, changed and deleted", async () => {
    const organizationId = await suite.makeOrganization();
    const call = (method: string, path: string, json?: unknown) =>
      instance.call(method, path, { organizationId, ...(json !== undefined && { json }) });
    const made = await call("POST", "sources", { sourceKey: "shop", name: "Shop", mapping: MAPPING });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      sourceKey: "shop",
      name: "Shop",
      format: "json",
      mapping: MAPPING,
      preset: null,
      status: "active",
      statusReason: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      lastReceivedAt: null,
      accepted: 0,
      rejected: 0,
      quarantined: 0,
    });
    await call("POST", "sources", { sourceKey: "mail", name: "Mail", format: "ndjson" });
    const listed: unknown = (await call("GET", "sources")).body;
    expect(listed).toMatchObject([{ sourceKey: "mail" }, { sourceKey: "shop" }]);
    expect((await call("GET", "sources/shop")).body).toEqual({ ...made.body, samples: [] });

    const renamed = await call("PATCH", "sources/shop", { name: "The shop", status: "learning" });
    expect(renamed).toMatchObject({
      status: 200,
      body: { name: "The shop", status: "learning", mapping: MAPPING },
    });
    const emptied = await call("PATCH", "sources/shop", { mapping: {} });
    expect(emptied.body).toMatchObject({ name: "The shop", status: "learning", mapping: {} });

    expect((await call("DELETE", "sources/shop")).status).toBe(204);
    expect((await call("DELETE", "sources/shop")).status).toBe(404);
    expect((await call("GET", "sources/shop")).status).toBe(404);
    const audited = await stores.postgres<{ action: string; resource: string }[]>`
      SELECT action, resource FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
    expect(audited.map(({ action, resource }) => `${action} ${resource}`)).toEqual([
      "CREATE_INGEST_SOURCE ingest-source:shop",
      "CREATE_INGEST_SOURCE ingest-source:mail",
      "UPDATE_INGEST_SOURCE ingest-source:shop",
      "UPDATE_INGEST_SOURCE ingest-source:shop",
      "DELETE_INGEST_SOURCE ingest-source:shop",
    ]);
  });

  test("keeps a mapping exactly as it was given, extra keys and the order of its fields included", async () => {
    const mapping =
      '{"fields":{"z":{"const":1},"a":{"from":"x\\u0001y"},"__proto__":{"const":"p"}},"note":["\\ud83d\\ude00",{"deep":null}],"records":"items"}';
    const json: unknown = JSON.parse(`{"sourceKey":"${freshKey()}","name":"n","mapping":${mapping}}`);
    const { body } = await instance.call("POST", "sources", { json });
    expect(JSON.stringify(body.mapping)).toBe(JSON.stringify(JSON.parse(mapping)));
  });

  test.each(
    (
      [
        [{}, "/sourceKey"],
        [{ sourceKey: "a", name: "n" }, "/sourceKey"],
        [{ sourceKey: "-ab", name: "n" }, "/sourceKey"],
        [{ sourceKey: "Shop", name: "n" }, "/sourceKey"],
        [{ sourceKey: "a".repeat(64), name: "n" }, "/sourceKey"],
        [{ sourceKey: "sources", name: "n" }, "/sourceKey"],
        [{ sourceKey: "presets", name: "n" }, "/sourceKey"],
        [{ sourceKey: "quarantine", name: "n" }, "/sourceKey"],
        [{ sourceKey: "ok", name: "" }, "/name"],
        [{ sourceKey: "ok", name: null }, "/name"],
        [{ sourceKey: "ok", name: "n", format: "xml" }, "/format"],
        [{ sourceKey: "ok", name: "n", status: "learning" }, "/status"],
        [{ sourceKey: "ok", name: "n", preset: "" }, "/preset"],
        [{ sourceKey: "ok", name: "n", preset: "no-such-preset" }, "/preset"],
        [{ sourceKey: "ok", name: "n", mapping: [] }, "/mapping"],
        [{ sourceKey: "ok", name: "n", format: "text", preset: "pino" }, "/format"],
        [{ sourceKey: "ok", name: "n", mapping: { zone: "Europe/Nowhere" } }, "/mapping/zone"],
        [{ sourceKey: "ok", name: "n", format: "json", mapping: { format: "cef" } }, "/mapping/format"],
        [
          { sourceKey: "ok", name: "n", mapping: { timestamp: { parse: "auto" } } },
          "/mapping/timestamp/from",
        ],
        [
          { sourceKey: "ok", name: "n", mapping: { timestamp: { from: "a", parse: "unix" } } },
          "/mapping/timestamp/parse",
        ],
        [{ sourceKey: "ok", name: "n", mapping: { timestamp: { from: "a..b" } } }, "/mapping/timestamp/from"],
        [{ sourceKey: "ok", name: "n", mapping: { fields: { a: { from: 1 } } } }, "/mapping/fields/a/from"],
        [{ sourceKey: "ok", name: "n", mapping: { fields: { a: { frm: "x" } } } }, "/mapping/fields/a/frm"],
        [
          { sourceKey: "ok", name: "n", mapping: { fields: { "a/b": { lowercase: true } } } },
          "/mapping/fields/a~1b",
        ],
        [
          { sourceKey: "ok", name: "n", mapping: { fields: { a: { from: "x", map: { y: 1 } } } } },
          "/mapping/fields/a/map/y",
        ],
        [
          { sourceKey: "ok", name: "n", mapping: { fields: { level: { const: "loud" } } } },
          "/mapping/fields/level/const",
        ],
        [{ sourceKey: "ok", name: "n", mapping: { messageTemplate: "{a" } }, "/mapping/messageTemplate"],
        [{ sourceKey: "ok", name: "n", mapping: { records: "a." } }, "/mapping/records"],
        [{ sourceKey: "ok", name: "n", mapping: { keepUnmapped: "no" } }, "/mapping/keepUnmapped"],
        [{ sourceKey: "ok", name: "n", mapping: { note: "x".repeat(70_000) } }, "/mapping"],
        [{ sourceKey: "ok", name: "n\0" }, "/name"],
        [{ sourceKey: "ok", name: "n", mapping: { note: [{ a: "\0" }] } }, "/mapping/note/0/a"],
        [{ sourceKey: "ok", name: "n", mapping: { note: { "a\0": 1 } } }, "/mapping/note/a\0"],
        [{ sourceKey: "ok", name: "n", mapping: { note: "half of \ud83d" } }, "/mapping/note"],
      ] as const
    ).map(([json, path]) => [path, json] as const),
  )("a body is refused at %s", async (path, json) => {
    const { status, body } = await instance.call("POST", "sources", { json });
    expect([status, body.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(body.fields).toContainEqual(expect.objectContaining({ path }));
  });

  test("has a key of its own in its organisation", async () => {
    const sourceKey = await create();
    const json = { sourceKey, name: "again" };
    expect(await instance.call("POST", "sources", { json })).toMatchObject({
      status: 409,
      body: { code: "CONFLICT" },
    });
    const organizationId = await suite.makeOrganization();
    expect((await instance.call("POST", "sources", { json, organizationId })).status).toBe(201);
  });

  test("of another organisation is not there", async () => {
    const sourceKey = await create();
    const organizationId = await suite.makeOrganization();
    const json = { name: "mine", sample: {} };
    for (const [method, path, body] of [
      ["GET", `sources/${sourceKey}`, undefined],
      ["PATCH", `sources/${sourceKey}`, { name: "mine" }],
      ["DELETE", `sources/${sourceKey}`, undefined],
      ["POST", `sources/${sourceKey}/infer-mapping`, { sample: json }],
      ["POST", sourceKey, {}],
    ] as const)
      expect((await instance.call(method, path, { organizationId, json: body })).status).toBe(404);
    const listed: unknown = (await instance.call("GET", "sources", { organizationId })).body;
    expect(listed).toEqual([]);
  });

  test("is read by viewers and changed by members", async () => {
    const sourceKey = await create();
    const role = "viewer";
    expect((await instance.call("GET", `sources/${sourceKey}`, { role })).status).toBe(200);
    expect((await instance.call("PATCH", `sources/${sourceKey}`, { role, json: {} })).status).toBe(403);
    expect((await instance.call("POST", sourceKey, { role, json: {} })).status).toBe(403);
  });

  test("takes the format that its mapping names, and no other", async () => {
    const sourceKey = await create({ mapping: { format: "ndjson" } });
    expect((await instance.call("GET", `sources/${sourceKey}`)).body.format).toBe("ndjson");
    const refused = await instance.call("PATCH", `sources/${sourceKey}`, { json: { format: "json" } });
    expect(refused).toMatchObject({ status: 400, body: { fields: [{ path: "/mapping/format" }] } });
    const both = { format: "json", mapping: {} };
    expect((await instance.call("PATCH", `sources/${sourceKey}`, { json: both })).body).toMatchObject(both);
  });

  test.each([
    { name: null },
    { format: null },
    { mapping: null },
    { status: null },
    { status: "on" },
    { preset: "x" },
    { sourceKey: "y" },
  ])("is not changed by nulls and what does not change, %#", async (json) => {
    const sourceKey = await create();
    expect((await instance.call("PATCH", `sources/${sourceKey}`, { json })).status).toBe(400);
  });
});

describe("presets", () => {
  test("are listed, and fill the mapping of a source unless it has one", async () => {
    const { status, body } = await instance.call("GET", "presets", { role: "viewer" });
    const presets: { name: string; format: string; mapping: object }[] = JSON.parse(JSON.stringify(body));
    expect(status).toBe(200);
    expect(presets.length).toBeGreaterThanOrEqual(15);
    for (const { name, format, mapping } of presets) {
      const sourceKey = await create({ preset: name });
      const source = (await instance.call("GET", `sources/${sourceKey}`)).body;
      expect(source).toMatchObject({ preset: name, format, mapping });
    }
    const [first] = presets;
    const own = await create({ preset: first?.name, mapping: MAPPING });
    expect((await instance.call("GET", `sources/${own}`)).body.mapping).toEqual(MAPPING);
    const cef = presets.find(({ format }) => format === "cef");
    const json = { sourceKey: freshKey(), name: "n", preset: cef?.name, format: "json" };
    expect(await instance.call("POST", "sources", { json })).toMatchObject({
      status: 400,
      body: { fields: [{ path: "/format" }] },
    });
  });
});

describe("a mapping proposed from a sample", () => {
  test("is one that a source takes", async () => {
    const sourceKey = await create();
    const sample = {
      when: 1_790_000_000_123,
      severity: "WARN",
      text: "disk almost full",
      app: { name: "billing" },
    };
    const inferred = await instance.call("POST", `sources/${sourceKey}/infer-mapping`, {
      json: { sample },
      role: "viewer",
    });
    expect(inferred).toMatchObject({ status: 200, body: { confidence: expect.any(Number) } });
    const changed = await instance.call("PATCH", `sources/${sourceKey}`, {
      json: { mapping: inferred.body.mapping },
    });
    expect(changed.status).toBe(200);
  });

  test("needs no source, and knows lines of text", async () => {
    const { status, body } = await instance.call("POST", "sources/infer-mapping", {
      json: { sample: "2026-03-04 10:15:30,123 ERROR [main] a.b.C: cannot open" },
      role: "viewer",
    });
    expect([status, body]).toMatchObject([
      200,
      {
        format: "text",
        mapping: { format: "text" },
        preset: null,
        preview: [{ entry: { level: "error", message: "cannot open" } }],
      },
    ]);
    await create({ format: body.format, mapping: body.mapping });
  });

  test.each([{}, { sample: {}, hint: "x".repeat(201) }, { sample: {}, more: 1 }])(
    "is not made without a sample, %#",
    async (json) => {
      const sourceKey = await create();
      expect((await instance.call("POST", `sources/${sourceKey}/infer-mapping`, { json })).status).toBe(400);
    },
  );
});
