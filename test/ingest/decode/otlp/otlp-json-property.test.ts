import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { OtlpJsonDecoder } from "../../../../ingest/decode/otlp/otlp-json.ts";
import { type DecodedEntry, decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";
import {
  anyValue,
  flattened,
  jsonStyle,
  type Member,
  members,
  plainValue,
  type ValueTree,
  wireMembers,
  wireValue,
  writeJson,
} from "./any-value-arbitrary.ts";

const format = new OtlpJsonDecoder();

interface RecordTree {
  readonly time: bigint;
  readonly body: ValueTree;
  readonly attributes: readonly Member[];
  readonly eventName: string;
  readonly flags: number;
  readonly droppedAttributesCount: number;
  readonly traceId: string;
}

interface ScopeTree {
  readonly name: string;
  readonly version: string;
  readonly attributes: readonly Member[];
  readonly records: readonly RecordTree[];
}

interface ResourceTree {
  readonly attributes: readonly Member[];
  readonly scopes: readonly ScopeTree[];
}

const shortText = fc.string({ unit: "grapheme", maxLength: 6 });
const record: fc.Arbitrary<RecordTree> = fc.record({
  time: fc.bigInt({ min: 0n, max: 9_223_286_399_999_999_999n }),
  body: anyValue,
  attributes: members,
  eventName: shortText,
  flags: fc.constantFrom(0, 1, 257),
  droppedAttributesCount: fc.constantFrom(0, 3),
  traceId: fc.oneof(
    fc.constant("0".repeat(32)),
    fc.string({ unit: fc.constantFrom(..."0aF9"), minLength: 32, maxLength: 32 }),
  ),
});
const resource: fc.Arbitrary<ResourceTree> = fc.record({
  attributes: members,
  scopes: fc.array(
    fc.record({
      name: shortText,
      version: shortText,
      attributes: members,
      records: fc.array(record, { maxLength: 3 }),
    }),
    { maxLength: 2 },
  ),
});

function wireRequest(resources: readonly ResourceTree[]): unknown {
  return {
    resourceLogs: resources.map(({ attributes, scopes }) => ({
      resource: { attributes: wireMembers(attributes), unknownField: [{ a: { b: [1] } }] },
      scopeLogs: scopes.map((scope) => ({
        scope: { name: scope.name, version: scope.version, attributes: wireMembers(scope.attributes) },
        logRecords: scope.records.map(({ time, body, attributes: own, ...rest }) => ({
          ...rest,
          timeUnixNano: String(time),
          body: wireValue(body),
          attributes: wireMembers(own),
          someNewField: { values: ["x"] },
        })),
      })),
    })),
  };
}

/** What a record must become, worked out plainly; a message that is a JSON text is left to `messageValue`. */
function expected(
  { attributes: resourceAttributes }: ResourceTree,
  scope: ScopeTree,
  tree: RecordTree,
): DecodedEntry {
  const attrs = new Map<string, unknown>();
  const put = (entries: Iterable<readonly [string, unknown]>): void => {
    for (const [key, value] of entries) if (!attrs.has(key)) attrs.set(key, value);
  };
  put(flattened("", tree.attributes));
  if (tree.flags > 0) put([["otel.flags", tree.flags]]);
  if (tree.droppedAttributesCount > 0) put([["otel.dropped_attributes_count", tree.droppedAttributesCount]]);
  if (tree.eventName !== "") put([["event.name", tree.eventName]]);
  if (tree.body.kind === "kvlist") {
    const member = messageMember(tree.body.members);
    put(
      flattened(
        "body.",
        tree.body.members.filter((candidate) => candidate !== member),
      ),
    );
  }
  put(flattened("", scope.attributes));
  if (scope.version !== "") put([["otel.scope.version", scope.version]]);
  const service = resourceAttributes.find(([key, { kind }]) => key === "service.name" && isColumn(kind));
  const host = resourceAttributes.find(([key, { kind }]) => key === "host.name" && isColumn(kind));
  put(
    flattened(
      "",
      resourceAttributes.filter((member) => member !== service && member !== host),
    ),
  );
  const texts = {
    service: service === undefined ? "" : columnText(service[1]),
    host: host === undefined ? "" : columnText(host[1]),
    source: scope.name,
    traceId: /^0+$/.test(tree.traceId) ? "" : tree.traceId.toLowerCase(),
  };
  return {
    ts: tree.time === 0n ? BigInt(RECEIVED_AT_MS) * 1_000_000n : tree.time,
    message: messageOf(tree),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")),
    attrs: Object.fromEntries(attrs),
  };
}

function isColumn(kind: ValueTree["kind"]): boolean {
  return kind !== "nothing" && kind !== "array" && kind !== "kvlist";
}

function columnText(tree: ValueTree): string {
  return tree.kind === "int" ? String(tree.value) : String(plainValue(tree));
}

/** The message, for bodies that are not lists. */
function messageOf({ body, eventName }: RecordTree): string {
  if (body.kind === "array") return "";
  if (body.kind === "kvlist") {
    const member = messageMember(body.members);
    return member === undefined ? "" : columnText(member[1]);
  }
  if (body.kind === "nothing") return eventName;
  return columnText(body) === "" ? eventName : columnText(body);
}

function messageMember(list: readonly Member[]): Member | undefined {
  const isText = ([, value]: Member): boolean =>
    typeof plainValue(value) === "string" && plainValue(value) !== "";
  return ["message", "msg"]
    .map((name) => list.find((member) => member[0] === name && isText(member)))
    .find((member) => member !== undefined);
}

describe("OTLP in JSON", () => {
  test("every tree of values, written in every order, becomes what it means", () =>
    fc.assert(
      fc.property(fc.array(resource, { maxLength: 2 }), jsonStyle, (resources, style) => {
        const entries = decodeEntries(format, writeJson(wireRequest(resources), style));
        const wanted = resources.flatMap((tree) =>
          tree.scopes.flatMap((scope) =>
            scope.records.map((one) => ({ entry: expected(tree, scope, one), body: one.body })),
          ),
        );
        expect(entries.length).toBe(wanted.length);
        for (const [i, { entry, body }] of wanted.entries()) {
          const found = entries[i];
          if (found === undefined) throw new Error("an entry is missing");
          const isJson = body.kind === "array" || (body.kind === "kvlist" && entry.message === "");
          if (isJson) expect(JSON.parse(found.message)).toEqual(plainValue(body));
          expect({ ...found, message: isJson ? "" : found.message }).toEqual(entry);
        }
      }),
      { numRuns: 600 },
    ));

  test("a value of any shape is written or rejected with its place, never more", () =>
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.constantFrom(
          "body",
          "attributes",
          "timeUnixNano",
          "severityNumber",
          "severityText",
          "traceId",
          "flags",
          "eventName",
        ),
        (value, field) => {
          const { entries, rejections, refusal } = decodeRequest(
            format,
            JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ [field]: value }, {}] }] }] }),
          );
          expect(refusal).toBeNull();
          expect(entries.length + rejections.length).toBe(2);
          for (const { place, reason } of rejections) {
            expect(place).toBe("/resourceLogs/0/scopeLogs/0/logRecords/0");
            expect(reason).toStartWith(field);
          }
        },
      ),
      { numRuns: 500 },
    ));
});
