import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type BulkItem,
  ElasticsearchBulk,
} from "../../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { anyText } from "../../log-entry-arbitrary.ts";
import { type DecodedRequest, decodeRequest } from "../decoded-entries.ts";

/** What a body becomes, and the items of its answer. */
function decode(
  body: string | Uint8Array,
  skip: readonly number[] = [],
): DecodedRequest & { readonly items: readonly BulkItem[] } {
  const bulk = new ElasticsearchBulk("logs");
  const decoded = decodeRequest(bulk, body, new Set(skip));
  return { ...decoded, items: bulk.items };
}

const lines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

describe("create and index", () => {
  test("make an entry of their document, with the index as its source", () => {
    const { entries, items } = decode(
      lines(
        { create: { _index: "web" } },
        { "@timestamp": "2026-01-31T23:59:58Z", message: "started é", log: { level: "info" }, port: 80 },
        { index: { _index: "jobs", _id: "7" } },
        { message: "done", source: "cron" },
        { index: {} },
        { message: "no index named" },
      ),
    );
    expect(entries).toMatchObject([
      {
        ts: BigInt(Date.UTC(2026, 0, 31, 23, 59, 58)) * 1_000_000n,
        message: "started é",
        level: "info",
        source: "web",
        attrs: { port: 80 },
      },
      { message: "done", source: "jobs", attrs: { _id: "7", source: "cron" } },
      { message: "no index named", source: "logs" },
    ]);
    expect(items).toEqual([
      { action: "create", index: "web", id: null, refusal: null },
      { action: "index", index: "jobs", id: "7", refusal: null },
      { action: "index", index: "logs", id: null, refusal: null },
    ]);
  });

  test("deduplicate by the id of a create only, within its index", () => {
    const { entries } = decode(
      lines(
        ...[{ create: { _index: "a", _id: "1" } }, { message: "m" }],
        ...[{ create: { _index: "b", _id: 1 } }, { message: "m" }],
        ...[{ index: { _index: "a", _id: "1" } }, { message: "m" }],
        ...[{ create: { _index: "a" } }, { message: "m" }],
        ...[{ create: { _index: "a", _id: "" } }, { message: "m" }],
      ),
    );
    expect(entries.map(({ eventId }) => eventId)).toEqual(["a/1", "b/1", undefined, undefined, undefined]);
  });

  test("may have further keys behind the action, which mean nothing", () => {
    const { entries, items } = decode(
      lines({ index: { _index: "web" }, attempts: 0 }, { message: "m" }, { create: {}, delete: {} }, {}),
    );
    expect(entries).toMatchObject([{ message: "m", source: "web" }, { message: "{}" }]);
    expect(items.map(({ action }) => action)).toEqual(["index", "create"]);
  });

  test("take the dataset of a data stream for the service, where the document names none", () => {
    const indexes = [
      "logs-shop-eu-1",
      "logs-generic-default",
      "logs-2026.11.22-x",
      "logs-shop",
      "web-shop-eu",
    ];
    const { entries } = decode(
      lines(
        ...indexes.flatMap((_index) => [{ create: { _index } }, { message: "m" }]),
        ...[{ create: { _index: "logs-shop-eu-1" } }, { message: "m", service: { name: "own" } }],
      ),
    );
    expect(entries.map(({ service }) => service)).toEqual(["shop", ...Array(4).fill(undefined), "own"]);
    expect(entries[0]?.source).toBe("logs-shop-eu-1");
  });

  test("take lines that end as on Windows, blank lines between pairs, and a last line without its end", () =>
    expect(
      decode('\n{"create":{}}\r\n{"message":"a"}\r\n\r\n{"create":{}}\n{"message":"b"}').entries,
    ).toMatchObject([{ message: "a" }, { message: "b" }]));
});

describe("an item is refused by itself", () => {
  test("when it would update or delete", () => {
    const { entries, items, rejections } = decode(
      lines(
        { update: { _index: "a", _id: "1" } },
        { doc: { message: "changed" } },
        { delete: { _index: "a", _id: "2" } },
        { create: { _index: "a" } },
        { message: "kept" },
      ),
    );
    expect(entries).toMatchObject([{ message: "kept" }]);
    expect(items.map(({ action, id, refusal }) => [action, id, refusal === null])).toEqual([
      ["update", "1", false],
      ["delete", "2", false],
      ["create", null, true],
    ]);
    expect(rejections).toEqual([]);
  });

  test.each([
    ["{", "the document in line 2 is not valid JSON"],
    ["[]", "the document in line 2 is no JSON object"],
    ["7", "the document in line 2 is no JSON object"],
    [`${'{"a":'.repeat(40)}1${"}".repeat(40)}`, "the document in line 2 nests deeper than 32 levels"],
  ])("when its document is %s", (document, refusal) => {
    const { entries, items } = decode(`{"create":{}}\n${document}\n{"create":{}}\n{"message":"m"}\n`);
    expect(entries).toMatchObject([{ message: "m" }]);
    expect(items.map((item) => item.refusal)).toEqual([refusal, null]);
  });

  test("when its document is missing", () =>
    expect(
      decode('{"create":{}}\n{"message":"m"}\n{"index":{}}\n').items.map(({ refusal }) => refusal),
    ).toEqual([null, "the document is missing"]));

  test("when its document is not UTF-8", () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"create":{}}\n{"a":"'), 0xff, 0x22, 0x7d]);
    expect(decode(body).items[0]?.refusal).toBe("the document in line 2 is not UTF-8");
  });
});

describe("the request is refused", () => {
  test.each([
    "",
    "\n \n",
    "no json\n",
    "{}\n",
    '{"create":{}',
    '{"create":7}\n{"a":1}\n',
    '{"upsert":{}}\n{"a":1}\n',
    '{"create":{}}\n{"message":"m"}\n{"message":"m"}\n',
    '{"__proto__":{}}\n{"a":1}\n',
    "[]\n",
  ])("when a line that should be an action is none: %j", (body) => {
    const { entries, refusal } = decode(body);
    expect([entries, refusal === null]).toEqual([[], false]);
  });

  test("when it has more actions than a request may have, of whatever kind", () =>
    expect(decode('{"delete":{}}\n'.repeat(100_001)).refusal).toBe("at most 100000 actions in a request"));
});

test("any documents give the same entries, whatever is left out because it is stored already", () =>
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("create", "index"), anyText(20, 1), anyText(8)), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
      (documents, skip) => {
        const body = lines(
          ...documents.flatMap(([action, message, value]) => [
            { [action]: { _index: "i" } },
            { message: `m${message}.`, k: value },
          ]),
        );
        const { entries, items } = decode(body, skip);
        const expected = documents
          .filter((_, position) => !skip.includes(position))
          .map(([, message, value]) => ({ message: `m${message}.`, source: "i", attrs: { k: value } }));
        expect(entries).toMatchObject(expected);
        expect(items).toHaveLength(documents.length);
      },
    ),
    { numRuns: 200 },
  ));
