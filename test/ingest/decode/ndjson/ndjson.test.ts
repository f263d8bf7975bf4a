import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NativeFormat } from "../../../../ingest/decode/native.ts";
import { NdjsonFormat } from "../../../../ingest/decode/ndjson/ndjson.ts";
import { type IngestIssue, IngestRejectedError } from "../../../../ingest/errors.ts";
import { LogBatch } from "../../../../ingest/log-batch.ts";
import { nativeEntry } from "../../log-entry-arbitrary.ts";
import { type DecodedEntry, entriesOf, RECEIVED_AT_MS } from "../decoded-entries.ts";

const encoder = new TextEncoder();
const ndjson = new NdjsonFormat();
const native = new NativeFormat();

/** The entries of a body, or why it is refused; a refused request leaves nothing behind. */
function decode(
  body: string | Uint8Array,
  format: Pick<NdjsonFormat, "decode"> = ndjson,
  skip: readonly number[] = [],
): readonly DecodedEntry[] | readonly IngestIssue[] {
  const batch = new LogBatch();
  batch.beginRequest(1, RECEIVED_AT_MS);
  try {
    format.decode(typeof body === "string" ? encoder.encode(body) : body, batch, new Set(skip));
  } catch (error) {
    if (error instanceof IngestRejectedError) return error.issues;
    throw error;
  }
  batch.keepRequest();
  return batch.rows === 0 ? [] : entriesOf(batch);
}

const refused = (body: string): string[] =>
  decode(body).map((issue) =>
    "path" in issue ? `${issue.path} ${issue.code} ${issue.message.split(":")[0]}` : "",
  );

describe("lines of native entries", () => {
  test("become the entries of the same array, in any layout of the lines", () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(nativeEntry, fc.constantFrom("\n", "\r\n", "\n\n", " \t\n \r\n")), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.array(fc.nat({ max: 7 }), { maxLength: 3 }),
        fc.boolean(),
        (lines, skip, isEnded) => {
          const entries = lines.map(([entry]) => entry);
          const body = lines.map(([entry, end]) => JSON.stringify(entry) + end).join("");
          expect(decode(isEnded ? body : body.trimEnd(), ndjson, skip)).toEqual(
            decode(JSON.stringify(entries), native, skip),
          );
        },
      ),
      { numRuns: 200 },
    ));

  test("may be one line", () => expect(decode('{"message":"m"}')).toMatchObject([{ message: "m" }]));

  test("may be 500", () => expect(decode('{"message":"m"}\n'.repeat(500))).toHaveLength(500));

  test("keep the digits of large numbers and what is unusual but valid", () =>
    expect(
      decode(
        '{"message":"a","attrs":{"n":12345678901234567890,"n2":1}}\n{"ts":1.769903998e9,"message":"x","message":"b"}',
      ),
    ).toMatchObject([
      { message: "a", attrs: { n2: 1 } },
      { message: "b", ts: 1769903998000000000n },
    ]));
});

describe("a batch with an invalid line is refused whole, with every problem", () => {
  test.each([
    ["", [" too_small at least 1 entry is needed"]],
    [" \n\r\n\t", [" too_small at least 1 entry is needed"]],
    ['{"message":"m"}\n'.repeat(501), [" too_big at most 500 entries in a request"]],
    ['{"message":"m"}\n\n{"message":""}\n7', ["/1/message too_small line 3", "/2 invalid_type line 4"]],
    [
      '{"message":"m","lvl":1}\n{"level":"x","message":"m"}',
      ["/0/lvl unrecognized_keys line 1", "/1/level invalid_literal line 2"],
    ],
    ['{"message":"m"}\n{"message":"m"', ["/1 custom line 2"]],
    ['{"message":"m"}{"message":"m"}', ["/0 custom line 1"]],
    ['{"message":\n"m"}', ["/0 custom line 1", "/1 custom line 2"]],
    ['[{"message":"m"}]', ["/0 invalid_type line 1"]],
    ['{"message":"a"}\n [{"message":"m"}]', ["/1 invalid_type line 2"]],
    ["null\ntrue", ["/0 invalid_type line 1", "/1 invalid_type line 2"]],
  ])("%j", (body, issues) => expect(refused(body)).toEqual(issues));

  test("also when the lines together would be valid", () => {
    expect(refused('{"message":"a","attrs":{"l":[{}\n{}]}}')).toEqual([
      "/0 custom line 1",
      "/1 custom line 2",
    ]);
    expect(refused('{"message":"a"\n"level":"info"}')).toEqual(["/0 custom line 1", "/1 custom line 2"]);
  });

  test("of which at most 100 are listed", () => expect(refused('{"a":1}\n'.repeat(300))).toHaveLength(100));

  test("and so is one that is not UTF-8, at its line", () => {
    const body = encoder.encode('{"message":"m"}\n{"message":"?"}');
    body[body.length - 3] = 0xff;
    expect(decode(body)).toMatchObject([{ path: "/1", code: "custom" }]);
  });

  test("and nothing of it stays in the batch", () => {
    const batch = new LogBatch();
    batch.beginRequest(1, RECEIVED_AT_MS);
    expect(() => ndjson.decode(encoder.encode('{"message":"m"}\n{}'), batch, new Set())).toThrow(
      IngestRejectedError,
    );
    batch.rewindRequest();
    ndjson.decode(encoder.encode('{"message":"n"}'), batch, new Set());
    batch.keepRequest();
    expect(entriesOf(batch)).toMatchObject([{ message: "n" }]);
  });
});

test("bytes changed, put in or left out never break it", () =>
  fc.assert(
    fc.property(
      fc.array(nativeEntry, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      fc.uint8Array({ maxLength: 3 }),
      fc.nat({ max: 3 }),
      (entries, at, put, cut) => {
        const body = [...encoder.encode(entries.map((entry) => JSON.stringify(entry)).join("\n"))];
        decode(Uint8Array.from(body.toSpliced(at % (body.length + 1), cut, ...put)));
      },
    ),
    { numRuns: 300 },
  ));
