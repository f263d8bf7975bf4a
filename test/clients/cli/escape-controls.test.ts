import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJsonExactly } from "../../../clients/api/json.ts";
import { formatEntry } from "../../../clients/cli/search/format-entry.ts";
import { makeColors, wantsColor } from "../../../clients/cli/terminal/colors.ts";
import {
  escapeControls,
  escapeControlsInJson,
  escapeControlsInLines,
} from "../../../clients/cli/terminal/escape-controls.ts";

/** Every code unit that a terminal obeys, beside tab and line feed. */
const COMMANDS = [
  ...Array.from({ length: 32 }, (_, code) => code).filter((code) => code !== 9 && code !== 10),
  ...Array.from({ length: 33 }, (_, index) => 0x7f + index),
  ...[0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2066, 0x2067, 0x2068, 0x2069],
].map((code) => String.fromCharCode(code));

const hostile = fc
  .array(
    fc.oneof(fc.constantFrom(...COMMANDS, "\n", "\t", "\r\n", "\u001b[31m", "é", "\u{1f600}"), fc.string()),
  )
  .map((parts) => parts.join(""));

function commandsIn(text: string): string[] {
  return COMMANDS.filter((command) => text.includes(command));
}

describe("nothing in a text commands a terminal", () => {
  test("on one line", () => {
    for (const command of COMMANDS) expect(escapeControls(`a${command}b`)).toMatch(/^a\\(x..|u....|r)b$/);
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = escapeControls(text);
        expect(commandsIn(shown)).toEqual([]);
        expect(shown).not.toContain("\n");
      }),
      { numRuns: 300 },
    );
  });

  test("over several lines, each of which is indented", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const [, ...following] = escapeControlsInLines(text, "    ").split("\n");
        expect(commandsIn(following.join(""))).toEqual([]);
        expect(following.every((line) => line.startsWith("    "))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("in JSON, which still means the same", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = escapeControlsInJson(JSON.stringify({ [text]: [text] }));
        expect(commandsIn(json)).toEqual([]);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ [text]: [text] })));
      }),
      { numRuns: 300 },
    );
  });

  test("in any field of an entry", () => {
    fc.assert(
      fc.property(hostile, hostile, (message, other) => {
        const entry = { ts: other, level: other, service: other, host: other, message };
        expect(commandsIn(formatEntry(entry, makeColors(false)))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

test("text that is harmless is shown as it is", () => {
  for (const text of ["plain", "tab\there", "日本語 é \u{1f469}\u200d\u{1f680}", 'quotes " \\']) {
    expect(escapeControls(text)).toBe(text);
    expect(escapeControlsInJson(JSON.stringify(text))).toBe(JSON.stringify(text));
  }
});

test("colours are for terminals that want them", () => {
  expect(wantsColor({}, true)).toBe(true);
  expect(wantsColor({ NO_COLOR: "" }, true)).toBe(true);
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) expect(wantsColor(env, true)).toBe(false);
  expect(wantsColor({}, false)).toBe(false);
});

test("numbers of an answer keep their digits", () => {
  const json = '{"a":12345678901234567890,"b":1.0,"c":[1e3,-0,0.1],"d":{"e":1}}';
  expect(JSON.stringify(parseJsonExactly(json))).toBe(json);
});
