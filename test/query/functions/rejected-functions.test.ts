import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aggregateFunctions, callableFunctions } from "../../../query/functions/registry.ts";
import { REJECTED_FUNCTIONS } from "../../../query/functions/rejected-functions.ts";
import { complaintAbout } from "./answers.ts";

const NAMES = join(import.meta.dir, "../../../../shared/data/kql/kusto-functions.json");

/** A call in the place where such a name may stand. */
const CALLS: Readonly<Record<string, (name: string) => string>> = {
  scalar: (name) => `print v = ${name}()`,
  aggregate: (name) => `print v = 1 | summarize ${name}()`,
  plugin: (name) => `print v = 1 | evaluate ${name}()`,
};

function kustoNames(): { name: string; kind: string }[] {
  const parsed: unknown = JSON.parse(readFileSync(NAMES, "utf8"));
  if (!Array.isArray(parsed)) throw new Error("a list of names belongs here");
  return parsed.map((entry) => ({ name: String(entry.name), kind: String(entry.kind) }));
}

describe("functions of Kusto that are not supported", () => {
  test("are refused by name, with a reason", () => {
    expect(complaintAbout("print geo_point_to_geohash(1.0, 2.0)")?.message).toContain("geography");
    expect(complaintAbout("print x = 1 | summarize hll(x)")?.message).toContain("sketches");
    expect(complaintAbout("print series_fft(dynamic([1]))")?.message).toContain("series");
  });

  test("are none of those that are", () => {
    const supported = [...callableFunctions(), ...aggregateFunctions()].map(([name]) => name);
    expect(supported.filter((name) => REJECTED_FUNCTIONS.has(name))).toEqual([]);
  });

  test.skipIf(!existsSync(NAMES))("and those that are make up every name of Kusto", () => {
    const unknown = kustoNames().filter(({ name, kind }) => {
      const code = complaintAbout(CALLS[kind]?.(name) ?? "")?.code;
      return code === "UNKNOWN_FUNCTION" || code === "SYNTAX";
    });
    expect(unknown).toEqual([]);
  });
});
