import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../../ingest/decode/json-body.ts";
import { compileMapping } from "../../../../ingest/mapping/compile-mapping.ts";
import { inferMapping } from "../../../../ingest/mapping/infer/infer-mapping.ts";
import { presetOf } from "../../../../ingest/mapping/presets/presets.ts";
import { mapRecord } from "../../../../ingest/mapping/preview.ts";

/** Recordings of real systems beside the project; without them these tests are left out. */
const FOLDER = join(import.meta.dir, "../../../../../shared/data/security");
const LINES_MAX_COUNT = 400;

interface Recording {
  /** What the file's name has in it. */
  readonly file: string;
  readonly preset: string;
  /** The records of it that are the preset's. */
  readonly isOf?: (record: JsonObject) => boolean;
}

const isSysmon = (record: JsonObject): boolean =>
  String(record.Channel).startsWith("Microsoft-Windows-Sysmon");
const RECORDINGS: readonly Recording[] = [
  { file: "combined_zeek", preset: "zeek" },
  { file: "aws_collection", preset: "aws-cloudtrail" },
  { file: "auoms_auditd", preset: "log-analytics-syslog" },
  { file: "log4shell_sysmon", preset: "log-analytics-windows" },
  { file: "CreateRequest", preset: "nxlog-windows", isOf: (record) => !isSysmon(record) },
  { file: "CreateRequest", preset: "sysmon", isOf: isSysmon },
  { file: "psexec_lsa", preset: "windows-event-json", isOf: (record) => !isSysmon(record) },
  { file: "psexec_lsa", preset: "sysmon", isOf: isSysmon },
  { file: "bitsadmin", preset: "windows-event-json", isOf: (record) => !isSysmon(record) },
  { file: "bitsadmin", preset: "sysmon", isOf: isSysmon },
  { file: "seatbelt", preset: "windows-event-json", isOf: (record) => !isSysmon(record) },
  { file: "seatbelt", preset: "sysmon", isOf: isSysmon },
];

function readRecords({ file, isOf = () => true }: Recording): JsonObject[] {
  const name = readdirSync(FOLDER).find((found) => found.includes(file)) ?? "";
  const lines = readFileSync(join(FOLDER, name), "utf8").trim().split("\n").slice(0, LINES_MAX_COUNT);
  return lines.flatMap((line) => {
    const parsed = tryParseJson(line, 32);
    return parsed.ok && isJsonObject(parsed.value) && isOf(parsed.value) ? [parsed.value] : [];
  });
}

describe.skipIf(!existsSync(FOLDER))("recordings of real systems", () => {
  for (const recording of RECORDINGS) {
    const { file, preset } = recording;
    test(`${preset} keeps every record of ${file}, each with its own time, a message and a host`, () => {
      const records = readRecords(recording);
      expect(records.length).toBeGreaterThan(10);
      const map = compileMapping(presetOf(preset)?.mapping ?? {});
      for (const record of records) {
        const { entry, problem } = mapRecord(map, record);
        expect(problem).toBeNull();
        expect(entry?.ts).toMatch(/^20\d\d-/);
        expect(entry?.message).not.toBe("");
        expect(entry?.level).not.toBeNull();
        if (preset !== "aws-cloudtrail") expect(entry?.host).not.toBeNull();
      }
    });

    test(`${file} is mapped without a preset, too, all ${preset} records with their time`, () => {
      const records = readRecords(recording);
      const inferred = inferMapping(records, undefined, { usePresets: false });
      const map = compileMapping(inferred.mapping);
      for (const record of records) {
        const { entry, problem } = mapRecord(map, record);
        expect(problem).toBeNull();
        expect(entry?.ts).toMatch(/^20\d\d-/);
      }
    });
  }
});
