import { describe, expect, test } from "bun:test";
import { inferMapping } from "../../../../ingest/mapping/infer/infer-mapping.ts";
import type { Inferred } from "../../../../ingest/mapping/infer/inferred.ts";
import { PRESETS } from "../../../../ingest/mapping/presets/presets.ts";
import { mappingIssues } from "../../../../ingest/mapping/validate-mapping.ts";
import { exactTime, type Right } from "../presets/payloads/payload.ts";
import { PAYLOADS } from "../presets/payloads/payloads.ts";

/** CEF names its fields itself: there is nothing to infer. */
const UNKNOWN = PAYLOADS.filter(({ preset }) => !preset.endsWith("cef")).map(({ preset, body, right }) => ({
  preset,
  right,
  inferred: inferMapping(body, undefined, { usePresets: false }),
}));
const FIELDS = ["timestamp", "message", "level", "service", "host"] as const;
/** What each field must reach; the present figures are 0.98 and better. */
const RIGHT_MIN_SHARE = 0.9;

function isRight(inferred: Inferred, right: Right, field: (typeof FIELDS)[number]): boolean {
  const from = inferred.fields.find((found) => found.field === field)?.from ?? "";
  const accepted = right[field].split("|");
  return accepted.includes(from) || (accepted.includes("{}") && from.includes("{"));
}

describe("without knowing the product", () => {
  for (const field of FIELDS)
    test(`the ${field} is found in the payloads of at least nine products of ten`, () => {
      const wrong = UNKNOWN.filter(({ inferred, right }) => !isRight(inferred, right, field));
      expect(UNKNOWN.length).toBeGreaterThan(50);
      expect(1 - wrong.length / UNKNOWN.length).toBeGreaterThan(RIGHT_MIN_SHARE);
    });

  test("a confidence of 0.8 or more in a field is nearly always deserved", () => {
    let sure = 0;
    let right = 0;
    for (const one of UNKNOWN)
      for (const field of FIELDS) {
        const found = one.inferred.fields.find((inferred) => inferred.field === field);
        if (found === undefined || found.confidence < 0.8) continue;
        sure++;
        if (isRight(one.inferred, one.right, field)) right++;
      }
    expect(sure).toBeGreaterThan(100);
    expect(right / sure).toBeGreaterThan(0.95);
  });

  test("every proposal is a mapping that a source accepts, and keeps its sample", () => {
    for (const { preset, inferred } of UNKNOWN) {
      expect([preset, mappingIssues(inferred.mapping)]).toEqual([preset, []]);
      expect([preset, inferred.preset]).toEqual([preset, null]);
      expect([preset, inferred.preview.map(({ problem }) => problem)]).toEqual([
        preset,
        inferred.preview.map(() => null),
      ]);
    }
  });
});

describe("a product that a preset is for", () => {
  test("is recognised by its payload, surely, and mapped as the preset says", () => {
    for (const { preset, body, entry } of PAYLOADS) {
      const inferred = inferMapping(body, undefined);
      expect([preset, inferred.preset]).toEqual([preset, preset]);
      expect(inferred.confidence).toBeGreaterThanOrEqual(0.7);
      expect([preset, mappingIssues(inferred.mapping)]).toEqual([preset, []]);
      const stored = inferred.preview[0]?.entry;
      expect([stored?.message, exactTime(stored?.ts)]).toEqual([entry.message, exactTime(entry.ts)]);
    }
  });

  test("is recognised by the sample of the documentation", () => {
    for (const { name, sample } of PRESETS) expect([name, inferMapping(sample).preset]).toEqual([name, name]);
  });
});
