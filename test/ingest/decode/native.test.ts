import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { type IngestIssue, IngestRejectedError } from "../../../ingest/errors.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { ByteBuffer } from "../../../ingest/native/byte-buffer.ts";
import { nativeEntry } from "../log-entry-arbitrary.ts";

const encoder = new TextEncoder();
const format = new NativeFormat();

/** The number of rows that a body becomes, or why it is refused. Anything else that is thrown is a defect. */
function decode(body: string | Uint8Array, skip: readonly number[] = []): number | readonly IngestIssue[] {
  const batch = new LogBatch();
  batch.beginRequest(1, 0);
  try {
    format.decode(typeof body === "string" ? encoder.encode(body) : body, batch, new Set(skip));
    const rows = batch.requestRows;
    batch.keepRequest();
    batch.writeTo(new ByteBuffer(), 1n, 1024);
    return rows;
  } catch (error) {
    if (error instanceof IngestRejectedError) return error.issues;
    throw error;
  }
}

function issuesOf(body: unknown): string[] {
  const result = decode(JSON.stringify(body));
  if (typeof result === "number") throw new Error("the body was accepted");
  return result.map(({ path, code }) => `${path} ${code}`);
}

function blockOf(body: string): CommittedBlock {
  const batch = new LogBatch();
  batch.beginRequest(1, 0);
  format.decode(encoder.encode(body), batch, new Set());
  batch.keepRequest();
  const out = new ByteBuffer();
  batch.writeTo(out, 1n, 1024);
  return new CommittedBlock(out.view());
}

function attributesOf(block: CommittedBlock, row: number): string[] {
  const [keys, texts] = block.attributes(row);
  return keys.map((key, i) => `${key}=${texts[i]}`);
}

describe("bounds", () => {
  test.each([
    [{ message: "x".repeat(8192) }],
    [{ message: "😀".repeat(8192) }],
    [{ message: "m", service: "s".repeat(255), source: "", host: "", event_id: "e".repeat(128) }],
    [{ message: "m", attrs: {} }],
    [{ message: "m", attrs: { "": "", k: null, deep: [[[[1]]]] } }],
    [{ message: "m", attrs: Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`k${i}`, i])) }],
    [{ message: "m", attrs: { k: "v".repeat(65_536) } }],
    [{ message: "m", ts: 1 }],
    [Array.from({ length: 500 }, () => ({ message: "m" }))],
  ])("case %# at the bound is accepted", (body) =>
    expect(typeof decode(JSON.stringify(body))).toBe("number"),
  );

  test.each([
    [{}, ["/message invalid_type"]],
    [{ message: "" }, ["/message too_small"]],
    [{ message: "x".repeat(8193) }, ["/message too_big"]],
    [{ message: "😀".repeat(8193) }, ["/message too_big"]],
    [{ message: 5 }, ["/message invalid_type"]],
    [{ message: "m", service: "" }, ["/service too_small"]],
    [{ message: "m", service: "s".repeat(256) }, ["/service too_big"]],
    [{ message: "m", source: "s".repeat(256), host: "h".repeat(256) }, ["/source too_big", "/host too_big"]],
    [{ message: "m", event_id: "" }, ["/event_id too_small"]],
    [{ message: "m", event_id: "e".repeat(129) }, ["/event_id too_big"]],
    [{ message: "m", level: "loud" }, ["/level invalid_literal"]],
    [{ message: "m", level: " info" }, ["/level invalid_literal"]],
    [{ message: "m", level: "30" }, ["/level invalid_literal"]],
    [{ message: "m", level: null }, ["/level invalid_type"]],
    [{ message: "m", ts: 0 }, ["/ts too_small"]],
    [{ message: "m", ts: 1.5 }, ["/ts invalid_type"]],
    [{ message: "m", ts: "yesterday" }, ["/ts invalid_string"]],
    [{ message: "m", ts: 9_300_000_000 }, ["/ts too_big"]],
    [{ message: "m", ts: true }, ["/ts invalid_type"]],
    [{ message: "m", attrs: [] }, ["/attrs invalid_type"]],
    [{ message: "m", attrs: null }, ["/attrs invalid_type"]],
    [{ message: "m", attrs: { k: "v".repeat(65_537) } }, ["/attrs/k too_big"]],
    [{ message: "m", attrs: { "a/b~c": "v".repeat(65_537) } }, ["/attrs/a~1b~0c too_big"]],
    [
      { message: "m", attrs: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, i])) },
      ["/attrs too_big"],
    ],
    [{ message: "m", lvl: 1, toString: 2 }, ["/lvl unrecognized_keys", "/toString unrecognized_keys"]],
    [[], [" too_small"]],
    [Array.from({ length: 501 }, () => ({ message: "m" })), [" too_big"]],
    [
      [{ message: "m" }, 7, { message: "" }],
      ["/1 invalid_type", "/2/message too_small"],
    ],
    ["text", [" invalid_type"]],
    [null, [" invalid_type"]],
  ])("case %# is refused at its place", (body, issues) => expect(issuesOf(body)).toEqual(issues));

  test("at most 100 issues are listed", () => {
    expect(issuesOf(Array.from({ length: 500 }, () => ({ nothing: 1 })))).toHaveLength(100);
  });
});

describe("broken bodies", () => {
  test.each([
    ['{"message":"m",}', 15],
    ['[{"message":"m"} {"message":"m"}]', 17],
    ['{"message":"m"}x', 15],
    ['{"message":"a\nb"}', 13],
    ["", 0],
  ])("%p is refused with the place where it breaks", (body, byte) => {
    const result = decode(body);
    expect(result).toMatchObject([{ path: "", code: "custom" }]);
    if (body !== "") expect(JSON.stringify(result)).toContain(`byte ${byte} `);
  });

  test("invalid UTF-8 is refused", () => {
    const body = encoder.encode('{"message":"?"}');
    body[12] = 0xff;
    expect(decode(body)).toMatchObject([{ path: "", code: "custom" }]);
  });

  test("deep nesting is refused", () => {
    const nested = (depth: number): string =>
      `{"message":"m","attrs":{"k":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
    expect(decode(nested(29))).toBe(1);
    expect(decode(nested(30))).toMatchObject([{ code: "custom" }]);
    expect(decode(nested(1_000_000))).toMatchObject([{ code: "custom" }]);
  });
});

describe("unusual but valid bodies", () => {
  test("the last of a repeated key counts, as JSON.parse has it", () => {
    expect(decode('{"message":"","message":"m","attrs":{"k":1,"k":2}}')).toBe(1);
  });

  test.each([
    ['{"message":"first","message":"last"}', "last", "", []],
    ['{"level":"info","message":"m","level":"warn"}', "m", "warn", []],
    ['{"message":"m","attrs":{"k":"first","k":"last"}}', "m", "", ["k=last"]],
    ['{"message":"m","attrs":{"a":"x"},"attrs":{"b":"y"}}', "m", "", ["b=y"]],
  ])("%s is one entry, and so is the one behind it", (body, message, level, attrs) => {
    const block = blockOf(`[${body},{"message":"next"}]`);
    expect([block.messageText(0), block.level(0), attributesOf(block, 0)]).toEqual([message, level, attrs]);
    expect([block.messageText(1), block.level(1), attributesOf(block, 1)]).toEqual(["next", "", []]);
  });

  test.each([
    ["WARNING", "warn"],
    ["ERR", "error"],
    ["crit", "fatal"],
    ["Notice", "info"],
    ["emerg", "fatal"],
    ["panic", "fatal"],
    ["dpanic", "fatal"],
    ["Verbose", "trace"],
    ["INFO", "info"],
    ["W", "warn"],
    ["war\\u004e", "warn"],
  ])("level %s is stored as %s", (word, level) => {
    const block = blockOf(
      `[{"message":"m","level":"${word}"},{"message":"m","level":"${word}","level":"${word}"}]`,
    );
    expect([block.level(0), block.level(1)]).toEqual([level, level]);
  });

  test("keys may be escaped, numbers may be written with an exponent", () => {
    expect(decode('{"mess\\u0061ge":"m","ts":1.7e12,"attrs":{"\\u006b":1e400}}')).toBe(1);
  });

  test("a key that names a prototype is an attribute like any other", () => {
    expect(decode('{"message":"m","attrs":{"__proto__":{"a":1},"constructor":1}}')).toBe(1);
    expect(issuesOf(JSON.parse('{"message":"m","__proto__":1}'))).toEqual(["/__proto__ unrecognized_keys"]);
  });

  test("entries whose positions are skipped are left out", () => {
    expect(decode('[{"message":"a"},{"message":"b"},{"message":"c"}]', [0, 2])).toBe(1);
    expect(decode('{"message":"a"}', [0])).toBe(0);
  });
});

test("valid entries are accepted in every spelling that JSON allows", () => {
  fc.assert(
    fc.property(
      fc.array(nativeEntry, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(0, 1, "\t"),
      (entries, space) => {
        expect(decode(JSON.stringify(entries, null, space))).toBe(entries.length);
        // Every character escaped.
        const escaped = JSON.stringify(entries).replace(
          /[^\x20-\x7e]/g,
          (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
        );
        expect(decode(escaped)).toBe(entries.length);
      },
    ),
    { numRuns: 300 },
  );
});

test("damaged bodies are accepted or refused, never anything else, and what is refused has a reason", () => {
  const damage = fc.record({
    at: fc.nat(400),
    byte: fc.oneof(fc.nat(255), fc.constantFrom(...'"\\{}[],:0e-'.split("").map((c) => c.charCodeAt(0)))),
    remove: fc.nat(3),
  });
  fc.assert(
    fc.property(
      fc.array(nativeEntry, { minLength: 1, maxLength: 3 }),
      fc.array(damage, { minLength: 1, maxLength: 4 }),
      (entries, damages) => {
        const bytes = [...encoder.encode(JSON.stringify(entries))];
        for (const { at, byte, remove } of damages) bytes.splice(at % (bytes.length + 1), remove, byte);
        const result = decode(Uint8Array.from(bytes));
        if (typeof result !== "number") expect(result.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 1500 },
  );
});
