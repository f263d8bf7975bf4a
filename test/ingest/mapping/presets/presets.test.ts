import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Preset } from "../../../../ingest/mapping/presets/preset.ts";
import { PRESETS, presetOf } from "../../../../ingest/mapping/presets/presets.ts";
import { type Preview, previewBody } from "../../../../ingest/mapping/preview.ts";
import { sourceDecoder } from "../../../../ingest/mapping/source-decoder.ts";
import { mappingIssues } from "../../../../ingest/mapping/validate-mapping.ts";
import { exactTime } from "./payloads/payload.ts";
import { PAYLOADS } from "./payloads/payloads.ts";

const encoder = new TextEncoder();
const NOW = Date.UTC(2026, 4, 12);

function presetNamed(name: string): Preset {
  const preset = presetOf(name);
  if (preset === null) throw new Error(`there is no preset ${name}`);
  return preset;
}

/** What a source with the preset makes of a body. */
function mapped(preset: Preset, body: unknown): Preview[] {
  const { format, mapping } = preset;
  const decoder = sourceDecoder({ format, mapping, learning: false, now: () => NOW });
  return previewBody(decoder, encoder.encode(typeof body === "string" ? body : JSON.stringify(body)));
}

describe("presets", () => {
  test("have names and texts that a source and its documentation can hold", () => {
    expect(PRESETS.length).toBeGreaterThanOrEqual(50);
    expect(new Set(PRESETS.map(({ name }) => name)).size).toBe(PRESETS.length);
    for (const { name, title, description } of PRESETS) {
      expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,63}$/);
      expect(title.length).toBeGreaterThan(2);
      expect(description.length).toBeGreaterThan(20);
    }
  });

  test("are found by their names and by nothing else", () => {
    for (const preset of PRESETS) expect(presetOf(preset.name)).toBe(preset);
    for (const name of ["", "toString", "__proto__", "PINO"]) expect(presetOf(name)).toBeNull();
  });

  test("have mappings that a source accepts, and that stay so as JSON", () => {
    for (const { name, mapping } of PRESETS) {
      expect([name, mappingIssues(mapping)]).toEqual([name, []]);
      expect(JSON.parse(JSON.stringify(mapping))).toEqual(mapping);
    }
  });

  test("keep every sample of the documentation, with its own time", () => {
    for (const preset of PRESETS)
      for (const { entry, problem } of mapped(preset, preset.sample)) {
        expect([preset.name, problem]).toEqual([preset.name, null]);
        expect([preset.name, entry?.ts?.slice(0, 10)]).toEqual([preset.name, "2026-03-04"]);
      }
  });

  test("are all in the documentation, and nothing else is", () => {
    const text = readFileSync(join(import.meta.dir, "../../../../docs/presets.md"), "utf8");
    const rows = [...text.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name, title]) => [name, title]);
    expect(rows).toEqual(PRESETS.map(({ name, title }) => [name, title]));
  });

  test("all have a payload below", () => {
    expect([...new Set(PAYLOADS.map(({ preset }) => preset))].sort()).toEqual(
      PRESETS.map(({ name }) => name).sort(),
    );
  });
});

describe("a preset makes exactly this entry", () => {
  for (const { preset, body, entry: expected } of PAYLOADS)
    test(preset, () => {
      const previews = mapped(presetNamed(preset), body);
      expect(previews.map(({ problem }) => problem)).toEqual(previews.map(() => null));
      const { attrs, ...entry } = previews[0]?.entry ?? { attrs: {}, ts: null };
      const { attrs: expectedAttrs, ...expectedEntry } = expected;
      const nothing = {
        level: null,
        service: null,
        source: null,
        host: null,
        traceId: null,
        spanId: null,
        event_id: null,
      };
      expect({ ...entry, ts: exactTime(entry.ts) }).toEqual({
        ...nothing,
        ...expectedEntry,
        ts: exactTime(expected.ts),
      });
      expect(attrs).toMatchObject(expectedAttrs);
    });
});
