/**
 * What people write from habit, a line each in `mistakes/mistakes.kql`, and what is said of it in `mistakes/said.txt`:
 * the place, the message and what may stand there instead. With `RECORD_GOLDENS=1` the latter is written; read every
 * message that changes and ask whether it says what to write.
 */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileKql } from "../../query/index.ts";

const FOLDER = join(import.meta.dir, "mistakes");
const SAID = join(FOLDER, "said.txt");
const NOW_NS = 1_750_000_000_000_000_000n;

const mistakes = readFileSync(join(FOLDER, "mistakes.kql"), "utf8")
  .split("\n")
  .filter((line) => line !== "");

function saidOf(text: string): string {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  if (compiled.ok) return `${text}\n  answered`;
  return [
    text,
    ...compiled.diagnostics.map(
      ({ column, message, suggestion }) =>
        `  ${column}: ${message}${suggestion === null ? "" : ` [${suggestion}]`}`,
    ),
  ].join("\n");
}

test("everyday mistakes are refused with what to write instead", () => {
  const said = `${mistakes.map(saidOf).join("\n")}\n`;
  if (Bun.env.RECORD_GOLDENS === "1") writeFileSync(SAID, said);
  expect(said).toBe(readFileSync(SAID, "utf8"));
});

test("none of them is answered, and none in words of the inside", () => {
  const said = mistakes.map(saidOf);
  expect(said.filter((text) => text.endsWith("answered"))).toEqual([]);
  expect(said.filter((text) => /\b(?:add|subtract|multiply|divide|modulo|negate)\(/.test(text))).toEqual([]);
});
