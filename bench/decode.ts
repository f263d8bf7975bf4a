/**
 * Decoders by themselves, without a server: rows and bytes a second on one core, beside the plainest reading of the same
 * bytes that the runtime offers (JSON.parse, or decoding UTF-8 and splitting into lines).
 * Usage: bun bench/decode.ts [format...]. Prints a table and appends a line to bench/results/decode.jsonl.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { FORMATS } from "./decode/formats.ts";
import type { DecodeResult } from "./decode/measure.ts";

const asked = process.argv.slice(2);
const names = FORMATS.map(({ name }) => name).filter((name) => asked.length === 0 || asked.includes(name));

const results: DecodeResult[] = [];
for (const name of names) {
  const measured = Bun.spawnSync([process.execPath, join(import.meta.dir, "decode/measure.ts"), name], {
    stdout: "pipe",
    stderr: "inherit",
  });
  if (measured.exitCode !== 0) throw new Error(`${name} was not measured`);
  results.push(JSON.parse(measured.stdout.toString()));
}
process.stdout.write(`${Bun.inspect.table(results)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(
  join(import.meta.dir, "results/decode.jsonl"),
  `${JSON.stringify({ at: new Date().toISOString(), results })}\n`,
);
