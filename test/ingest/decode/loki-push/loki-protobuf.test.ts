import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compress } from "snappyjs";
import { parseLabels } from "../../../../ingest/decode/loki-push/label-text.ts";
import { LokiProtobuf } from "../../../../ingest/decode/loki-push/loki-protobuf.ts";
import { LokiPush } from "../../../../ingest/decode/loki-push/loki-push.ts";
import { decodeEntries, decodeRequest } from "../decoded-entries.ts";
import { lengthField, varintField } from "../protobuf-writer.ts";

const text = fc.string({ unit: "binary", maxLength: 20 });
const name = fc.oneof(fc.constantFrom("app", "host", "level", "env"), fc.stringMatching(/^[a-z_]{1,8}$/));
const labels = fc.dictionary(name, text, { maxKeys: 4, noNullPrototype: true });
const stream = fc.record({
  labels,
  entries: fc.array(
    fc.record({
      nanos: fc.bigInt({ min: 1n, max: 9_000_000_000_000_000_000n }),
      line: fc.oneof(
        text,
        labels.map((value) => JSON.stringify(value)),
      ),
      metadata: labels,
    }),
    { maxLength: 3 },
  ),
});

/** As `strconv.Quote` of Go writes it. */
function selector(of: Readonly<Record<string, string>>): string {
  const quoted = (value: string): string =>
    `"${value
      .replace(/["\\]/g, "\\$&")
      .replace(/\n/g, "\\n")
      .replace(/\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)}"`;
  return `{${Object.entries(of)
    .map(([key, value]) => `${key}=${quoted(value)}`)
    .join(", ")}}`;
}

test("becomes what the JSON of the same request becomes", () =>
  fc.assert(
    fc.property(fc.array(stream, { maxLength: 3 }), (streams) => {
      const packed = Buffer.concat(
        streams.map((own) =>
          lengthField(
            1,
            lengthField(1, selector(own.labels)),
            ...own.entries.map(({ nanos, line, metadata }) =>
              lengthField(
                2,
                lengthField(
                  1,
                  varintField(1, nanos / 1_000_000_000n),
                  varintField(2, nanos % 1_000_000_000n),
                ),
                lengthField(2, line),
                ...Object.entries(metadata).map(([key, value]) =>
                  lengthField(3, lengthField(1, key), lengthField(2, value)),
                ),
              ),
            ),
          ),
        ),
      );
      const json = JSON.stringify({
        streams: streams.map((own) => ({
          stream: own.labels,
          values: own.entries.map(({ nanos, line, metadata }) => [String(nanos), line, metadata]),
        })),
      });
      expect(decodeEntries(new LokiProtobuf(), compress(packed))).toEqual(
        decodeEntries(new LokiPush(), json),
      );
    }),
    { numRuns: 300 },
  ));

test("a body that is cut off anywhere within a stream is refused whole", () => {
  const body = lengthField(1, lengthField(1, '{app="a"}'), lengthField(2, lengthField(2, "line")));
  for (let length = 1; length < body.length; length++)
    expect(decodeRequest(new LokiProtobuf(), compress(body.slice(0, length))).refusal).toContain("cut off");
});

describe("labels", () => {
  test.each([
    ["{}", {}],
    ['{a="b"}', { a: "b" }],
    ['{a="b",c="d",}', { a: "b", c: "d" }],
    ['{a="\\x41\\u00e9\\U0001F600\\101\\t\\\\"}', { a: "Aé😀A\t\\" }],
    ['{__proto__x="p"}', { __proto__x: "p" }],
    ["", null],
    ['{a="b"', null],
    ["{a=b}", null],
    ['{a="b" c="d"}', null],
    [`{a="${"x".repeat(70_000)}"}`, null],
  ])("case %#", (selectorText, expected) => expect(parseLabels(selectorText)).toEqual(expected));

  test("that cannot be read are kept as they stand", () =>
    expect(
      decodeEntries(
        new LokiProtobuf(),
        compress(lengthField(1, lengthField(1, "nonsense"), lengthField(2, lengthField(2, "m")))),
      ),
    ).toMatchObject([{ message: "m", attrs: { labels: "nonsense" } }]));
});
