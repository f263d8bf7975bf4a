import { expect, test } from "bun:test";
import fc from "fast-check";
import { SplunkRawText } from "../../../../ingest/decode/splunk-hec/splunk-raw.ts";
import { anyText } from "../../log-entry-arbitrary.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const RECEIVED_AT = BigInt(RECEIVED_AT_MS) * 1_000_000n;

test("every line is an entry with what the request says of all", () =>
  expect(
    decodeEntries(
      new SplunkRawText({ host: "node-1", source: "app.log", sourcetype: "text", index: "main" }),
      "first é\r\n\n  second {}\nthird",
    ),
  ).toEqual(
    ["first é", "  second {}", "third"].map((message) => ({
      ts: RECEIVED_AT,
      message,
      host: "node-1",
      source: "app.log",
      attrs: { sourcetype: "text", index: "main" },
    })),
  ));

test("a line in another encoding is kept", () =>
  expect(decodeEntries(new SplunkRawText({}), new Uint8Array([0x61, 0xe9, 0x62]))).toMatchObject([
    { message: "aéb" },
  ]));

test.each(["", "\n\r\n \t\n"])("a body without a line is refused: %j", (body) =>
  expect(decodeRequest(new SplunkRawText({}), body).refusal).toBe("the body holds no line"),
);

test("any lines arrive as they are", () =>
  fc.assert(
    fc.property(fc.array(anyText(20, 1), { minLength: 1, maxLength: 6 }), (texts) => {
      const lines = texts.map((text) => `<${text.replaceAll("\n", " ")}>`);
      expect(decodeEntries(new SplunkRawText({}), lines.join("\n")).map(({ message }) => message)).toEqual(
        lines,
      );
    }),
    { numRuns: 100 },
  ));
