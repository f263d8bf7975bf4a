import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RecognisedEntry } from "../../../ingest/recognise/entry-joiner.ts";
import { LINE_MAX_BYTES } from "../../../ingest/recognise/limits.ts";
import { LineRecogniser } from "../../../ingest/recognise/line-recogniser.ts";
import { ACCESS_LINES } from "./corpus/access-lines.ts";
import { DATA_LINES } from "./corpus/data-lines.ts";
import { PLAIN_LINES } from "./corpus/plain-lines.ts";
import { PRODUCT_LINES } from "./corpus/product-lines.ts";
import { SYSLOG_LINES } from "./corpus/syslog-lines.ts";
import { TEXT_LINES } from "./corpus/text-lines.ts";
import { entriesOf } from "./entries.ts";
import { read, WRITTEN_AT } from "./line-case.ts";

const KNOWN = [...TEXT_LINES, ...PRODUCT_LINES, ...SYSLOG_LINES, ...ACCESS_LINES, ...DATA_LINES].map(
  ([line]) => line,
);
const encoder = new TextEncoder();

const frame = fc.constantFrom(
  "\tat a.b.C(D.java:1)",
  "Caused by: x",
  "Traceback (most recent call last):",
  "goroutine 1 [running]:",
  "#Fields: date time cs-method cs-uri-stem sc-status",
  "2026-01-02 03:04:05 GET /cart 200",
  "   ",
  "",
);
const line = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KNOWN, ...PLAIN_LINES) },
  { weight: 2, arbitrary: frame },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  // A known line that was cut anywhere, or to which something was added.
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...KNOWN), fc.nat(120), fc.string({ maxLength: 5 }))
      .map(([known, at, added]) => known.slice(0, at) + added + known.slice(at + added.length)),
  },
);
const stream = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n"), fc.uint8Array({ maxLength: 10 }))
  .map(([lines, end, bytes]) => Buffer.concat([encoder.encode(lines.join(end)), bytes]));

function comparable(entries: readonly RecognisedEntry[]): unknown {
  return entries.map((entry) => ({ ...entry, attributes: [...entry.attributes] }));
}

describe("any stream", () => {
  test("gives the same entries however it is cut into chunks", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(2000), { maxLength: 8 }), (bytes, cuts) => {
        expect(comparable(entriesOf(bytes, cuts))).toEqual(comparable(entriesOf(bytes)));
      }),
      { numRuns: 300 },
    );
  });

  test("loses none of its bytes: the entries cover it from its beginning to its last line", () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const entries = entriesOf(bytes);
        let at = 0;
        for (const { start, end } of entries) {
          expect(start).toBe(at);
          expect(end).toBeGreaterThan(start);
          at = end;
        }
        expect(bytes.subarray(at).toString("latin1").trim()).toBe("");
      }),
      { numRuns: 300 },
    );
  });

  test("of lines in which nothing is recognised is given as it is", () => {
    const plain = fc.array(fc.constantFrom(...PLAIN_LINES.filter((text) => !/^[{\s]|^Trace/.test(text))), {
      minLength: 1,
    });
    fc.assert(
      fc.property(plain, (lines) => {
        const entries = entriesOf(`${lines.join("\n")}\n`);
        expect(entries.map(({ message }) => message)).toEqual(lines);
        expect(
          entries.every(
            ({ time, level, service, attributes }) =>
              (time ?? level ?? service ?? null) === null && attributes.size === 0,
          ),
        ).toBe(true);
      }),
    );
  });

  test("is gone on with where another recogniser stopped", () => {
    fc.assert(
      fc.property(stream, fc.nat(12), (bytes, count) => {
        const whole = entriesOf(bytes);
        const given: RecognisedEntry[] = [];
        const first = new LineRecogniser({ yearReferenceMs: WRITTEN_AT });
        // Entries are given when the next begins, so the state is taken before the following line is read.
        const states = [first.state];
        for (const { start, end } of whole) {
          first.push(bytes.subarray(start, end), (entry) => given.push(entry));
          states.push(first.state);
        }
        const at = Math.min(count, whole.length);
        const offset = at === 0 ? 0 : (whole[at - 1]?.end ?? 0);
        const state = states[at];
        const rest = entriesOf(bytes.subarray(offset), [], {
          offset,
          ...(state === undefined ? {} : { state }),
        });
        expect(comparable([...whole.slice(0, at), ...rest])).toEqual(comparable(whole));
      }),
      { numRuns: 200 },
    );
  });
});

describe("a line", () => {
  test("says the same whatever came before", () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), fc.constantFrom(...KNOWN), (before, text) => {
        const [, entry] = entriesOf(`${before}\n${text}\n`);
        const said = read(text);
        // A cut line of a container, or one that awaits its message, takes the next one.
        if (entry === undefined) return;
        expect([entry.message, entry.level, entry.service]).toEqual([
          said?.message ?? text,
          said?.level ?? null,
          said?.service ?? null,
        ]);
      }),
      { numRuns: 500 },
    );
  });

  test("that is too long to be held comes in pieces, each with the head of the first", () => {
    const long = "ü".repeat(LINE_MAX_BYTES);
    const entries = entriesOf(`2026-01-02 03:04:05 ERROR a.b.C: ${long}\nnext`, [5, 70_000, 300_001]);
    const pieces = entries.slice(0, -1);
    expect(pieces.length).toBe(3);
    expect(pieces.map(({ message }) => message).join("")).toBe(long);
    expect(pieces.map(({ level }) => level)).toEqual(["error", "error", "error"]);
    expect(pieces.map(({ attributes }) => attributes.get("_part"))).toEqual([undefined, 2, 3]);
    expect(entries.at(-1)?.message).toBe("next");
  });

  test("may begin with a byte order mark and end with a carriage return", () => {
    expect(entriesOf("\uFEFF[WARN] slow\r\n").map(({ level, message }) => [level, message])).toEqual([
      ["warn", "slow"],
    ]);
  });

  test("keeps every byte that is not UTF-8", () => {
    expect(entriesOf(Buffer.from("[WARN] \xff\xfe\n", "latin1")).map(({ message }) => message)).toEqual([
      "\u00ff\u00fe",
    ]);
  });
});

describe("a W3C log", () => {
  const HEADER =
    "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status time-taken\n";

  test("has the columns that it names", () => {
    const row = "2026-01-02 03:04:05 10.0.0.1 GET /cart step=2 443 - 203.0.113.9 Mozilla/5.0+(X11) 502 214";
    const [software, fields, entry] = entriesOf(`${HEADER}${row}\n`);
    expect([software?.message, fields?.form]).toEqual([
      "#Software: Microsoft Internet Information Services 10.0",
      "plain",
    ]);
    expect([entry?.form, entry?.level, entry?.message, entry?.time?.seconds]).toEqual([
      "w3c",
      "error",
      "GET /cart?step=2 502",
      Date.parse("2026-01-02T03:04:05Z") / 1000,
    ]);
    expect(Object.fromEntries(entry?.attributes ?? [])).toEqual({
      "server.ip": "10.0.0.1",
      "http.request.method": "GET",
      "url.path": "/cart",
      "url.query": "step=2",
      "server.port": 443,
      "client.address": "203.0.113.9",
      "user_agent.original": "Mozilla/5.0 (X11)",
      "http.response.status_code": 502,
      "http.server.request.duration": 0.214,
    });
  });

  test("counts in UTC, whatever the zone of other times is", () => {
    const entries = entriesOf(`#Fields: date time cs-method cs-uri-stem\n2026-01-02 03:04:05 GET /\n`, [], {
      zone: "Asia/Tokyo",
    });
    expect(entries[1]?.time?.seconds).toBe(Date.parse("2026-01-02T03:04:05Z") / 1000);
  });
});
