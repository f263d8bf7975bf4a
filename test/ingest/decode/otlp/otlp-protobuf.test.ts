import { describe, expect, test } from "bun:test";
import { JsonLogsSerializer, ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import fc from "fast-check";
import { OtlpJsonDecoder } from "../../../../ingest/decode/otlp/otlp-json.ts";
import { OtlpProtobufDecoder } from "../../../../ingest/decode/otlp/otlp-protobuf.ts";
import { decodeEntries, decodeRequest } from "../decoded-entries.ts";
import { doubleField, fixed32Field, fixed64Field, lengthField, varintField } from "../protobuf-writer.ts";
import {
  anyValue,
  type Member,
  members,
  type ValueTree,
  wireMembers,
  wireValue,
  writeJson,
} from "./any-value-arbitrary.ts";

const protobuf = new OtlpProtobufDecoder();
const json = new OtlpJsonDecoder();

/** An AnyValue's fields; null for a field that is left out. */
function valueFields(tree: ValueTree): Uint8Array[] | null {
  switch (tree.kind) {
    case "string":
      return [lengthField(1, tree.text)];
    case "bool":
      return [varintField(2, tree.value ? 1 : 0)];
    case "int":
      return [varintField(3, tree.value)];
    case "double":
      return [doubleField(4, tree.value)];
    case "bytes":
      return [lengthField(7, Buffer.from(tree.base64, "base64"))];
    case "nothing":
      return tree.form === "empty" ? [] : null;
    case "array":
      return [lengthField(5, ...tree.values.map((value) => lengthField(1, ...(valueFields(value) ?? []))))];
    case "kvlist":
      return [lengthField(6, ...tree.members.map((member) => keyValue(1, member)))];
  }
}

function keyValue(number: number, [key, value]: Member): Uint8Array {
  const fields = valueFields(value);
  return lengthField(number, lengthField(1, key), ...(fields === null ? [] : [lengthField(2, ...fields)]));
}

const record = fc.record({
  time: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  observed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  severity: fc.nat(30),
  severityText: fc.string({ unit: "binary", maxLength: 8 }),
  body: anyValue,
  attributes: members,
  flags: fc.nat(),
  traceId: fc.uint8Array({ maxLength: 17 }),
  spanId: fc.uint8Array({ minLength: 8, maxLength: 8 }),
  eventName: fc.string({ unit: "binary", maxLength: 8 }),
});
const request = fc.record({
  resource: members,
  scope: fc.record({ name: fc.string({ unit: "binary", maxLength: 8 }), attributes: members }),
  records: fc.array(record, { maxLength: 4 }),
});
type RequestTree = typeof request extends fc.Arbitrary<infer T> ? T : never;

function protobufOf({ resource, scope, records }: RequestTree): Uint8Array {
  const logRecords = records.map((tree) => {
    const body = valueFields(tree.body);
    // Attributes stand among the other fields, which the encoding allows.
    const [first, ...others] = tree.attributes.map((member) => keyValue(6, member));
    return lengthField(
      2,
      fixed64Field(1, tree.time),
      ...(first === undefined ? [] : [first]),
      varintField(2, tree.severity),
      lengthField(3, tree.severityText),
      ...(body === null ? [] : [lengthField(5, ...body)]),
      varintField(99, 7),
      ...others,
      fixed32Field(8, tree.flags),
      lengthField(9, tree.traceId),
      lengthField(10, tree.spanId),
      fixed64Field(11, tree.observed),
      lengthField(12, tree.eventName),
    );
  });
  return lengthField(
    1,
    lengthField(1, ...resource.map((member) => keyValue(1, member))),
    lengthField(
      2,
      lengthField(1, lengthField(1, scope.name), ...scope.attributes.map((member) => keyValue(3, member))),
      ...logRecords,
    ),
  );
}

function jsonOf({ resource, scope, records }: RequestTree): string {
  const logRecords = records.map((tree) => ({
    timeUnixNano: String(tree.time),
    observedTimeUnixNano: String(tree.observed),
    severityNumber: tree.severity,
    severityText: tree.severityText,
    body: wireValue(tree.body),
    attributes: wireMembers(tree.attributes),
    flags: tree.flags,
    traceId: Buffer.from(tree.traceId).toString("hex"),
    spanId: Buffer.from(tree.spanId).toString("hex"),
    eventName: tree.eventName,
  }));
  const body = {
    resourceLogs: [
      {
        resource: { attributes: wireMembers(resource) },
        scopeLogs: [{ scope: { name: scope.name, attributes: wireMembers(scope.attributes) }, logRecords }],
      },
    ],
  };
  return writeJson(body, { rank: () => 0, space: "", escapes: false });
}

describe("protobuf becomes the entries that JSON becomes", () => {
  test("of any request", () =>
    fc.assert(
      fc.property(request, (tree) =>
        expect(decodeRequest(protobuf, protobufOf(tree))).toEqual(decodeRequest(json, jsonOf(tree))),
      ),
      { numRuns: 400 },
    ));

  test("as the SDK's own serializers write it", () => {
    const plain = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.maxSafeInteger(),
      // The SDK sends whole numbers as integers, and in JSON not those that a double holds beyond 2^53, but shorter ones.
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value))
        .map((value) => (value === 0 ? 0 : value)),
      fc.boolean(),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, depthSize: "small" },
        plain,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), tie("value"), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
        fc.uint8Array({ maxLength: 9 }),
      ),
    }));
    const attributes = fc.dictionary(fc.string({ unit: "grapheme", minLength: 1, maxLength: 9 }), value, {
      maxKeys: 4,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(
        attributes,
        fc.array(fc.tuple(value, attributes, fc.nat(24)), { maxLength: 4 }),
        (resource, all) => {
          const memory = new InMemoryLogRecordExporter();
          const provider = new LoggerProvider({
            resource: resourceFromAttributes({ "service.name": "shop", ...plainOnly(resource) }),
            processors: [new SimpleLogRecordProcessor({ exporter: memory })],
          });
          const logger = provider.getLogger("scope", "1.0");
          for (const [body, own, severityNumber] of all)
            logger.emit({
              body: anyValueOf(body),
              attributes: anyMembersOf(own),
              severityNumber,
              timestamp: new Date(),
            });
          const records = memory.getFinishedLogRecords();
          const [packed, text] = [
            ProtobufLogsSerializer.serializeRequest(records),
            JsonLogsSerializer.serializeRequest(records),
          ];
          if (packed === undefined || text === undefined) throw new Error("nothing was serialized");
          expect(decodeEntries(protobuf, packed)).toEqual(decodeEntries(json, text));
        },
      ),
      { numRuns: 100 },
    );
  });
});

type SdkValue = NonNullable<Parameters<ReturnType<LoggerProvider["getLogger"]>["emit"]>[0]["body"]>;

/** What the SDK takes of what fast-check makes. */
function anyValueOf(value: unknown): SdkValue {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(anyValueOf);
  return anyMembersOf(value);
}

function anyMembersOf(value: unknown): Record<string, SdkValue> {
  return Object.fromEntries(Object.entries({ ...Object(value) }).map(([key, own]) => [key, anyValueOf(own)]));
}

function plainOnly(value: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, own]) => (typeof own === "string" ? [[key, own]] : [])),
  );
}

describe("bytes that are no such message", () => {
  const whole = lengthField(1, lengthField(2, lengthField(2, lengthField(5, lengthField(1, "message")))));

  test("are refused wherever they are cut off", () => {
    for (let length = 1; length < whole.length; length++) {
      const { entries, refusal } = decodeRequest(protobuf, whole.subarray(0, length));
      expect([length, entries.length, refusal]).toEqual([length, 0, expect.stringContaining("cut off")]);
    }
  });

  test.each([
    ["a field of another kind", lengthField(1, lengthField(2, lengthField(2, lengthField(1, "x"))))],
    ["a group", Uint8Array.of(0x0b)],
    ["a field without a number", Uint8Array.of(0x00, 0x00)],
    ["a number that does not end", new Uint8Array(20).fill(0xff)],
    ["a length beyond the end", Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f)],
    ["JSON", new TextEncoder().encode('{"resourceLogs":[]}')],
  ])("are refused: %s", (_, body) => {
    const { entries, refusal } = decodeRequest(protobuf, body);
    expect([entries, refusal]).toEqual([[], expect.stringContaining("no protobuf")]);
  });

  test("are refused when values nest too deep", () => {
    let value = lengthField(1, "x");
    for (let depth = 0; depth < 5_000; depth++) value = lengthField(5, lengthField(1, value));
    const body = lengthField(1, lengthField(2, lengthField(2, lengthField(5, value))));
    expect(decodeRequest(protobuf, body).refusal).toContain("nest deeper");
  });
});

test("a string that is not UTF-8 is kept readable, also within a list", () => {
  const broken = Uint8Array.of(0x61, 0xff, 0x22);
  const body = lengthField(5, lengthField(1, broken));
  const list = lengthField(
    6,
    lengthField(1, "l"),
    lengthField(2, lengthField(5, lengthField(1, lengthField(1, broken)))),
  );
  const [entry] = decodeEntries(protobuf, lengthField(1, lengthField(2, lengthField(2, body, list))));
  expect(entry).toMatchObject({ message: 'aÿ"', attrs: { l: ['aÿ"'] } });
});

test("of a value that is given twice the last one counts", () => {
  const value = [
    lengthField(1, "first"),
    varintField(3, 7),
    varintField(99, 1),
    lengthField(1, "last"),
    varintField(98, 1),
  ];
  const body = lengthField(1, lengthField(2, lengthField(2, lengthField(5, ...value))));
  expect(decodeEntries(protobuf, body)).toMatchObject([{ message: "last" }]);
});
