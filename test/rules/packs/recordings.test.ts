/** Recordings of attacks, replayed in random order: each chain is found by the correlation that comes with the server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../../ingest/decode/json-body.ts";
import { compileMapping } from "../../../ingest/mapping/compile-mapping.ts";
import { presetOf } from "../../../ingest/mapping/presets/presets.ts";
import { mapRecord } from "../../../ingest/mapping/preview.ts";
import { CORRELATIONS } from "../../../src/rules/packs/correlations.ts";
import { type AlertServer, alertServer, makeOrganization } from "../../domains/log-alerts/alert-server.ts";
import type { Entry } from "../../domains/log-alerts/test-stream.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { rowOf } from "./pack-store.ts";

const RECORDINGS = join(import.meta.dir, "../../../../shared/data/security");

/** How the name of a recording begins, the preset of the source that would take it, and the chain in it. */
const CHAINS = [
  ["windows_credential_access", "windows-event-json", "windows-remote-service-then-secrets"],
  ["windows_lateral_movement", "nxlog-windows", "windows-sign-in-then-program-on-share"],
  ["windows_defense_evasion", "windows-event-json", "windows-background-transfer-then-file"],
  ["windows_discovery", "windows-event-json", "windows-log-cleared-then-tool"],
  ["log4shell_sysmon", "log-analytics-windows", "windows-server-reaches-out-then-shell"],
  ["log4shell_syslog", "log-analytics-syslog", "linux-encoded-shell-then-discovery"],
  ["aws_collection", "aws-cloudtrail", "aws-role-lists-then-reads"],
  ["apt29_day1", "zeek", "network-untrusted-certificate-then-directory"],
] as const;

/** Entries that are stored before rules are looked at. */
const CHUNK = 400;

/** Another order in every run of a seed. */
function shuffled<T>(all: readonly T[], seed: number): T[] {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return all
    .map((each) => [random(), each] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, each]) => each);
}

function timeOf(record: JsonObject): number {
  const { ts, TimeCreated, TimeGenerated, EventTime } = record;
  if (typeof ts === "number") return Math.round(ts * 1000);
  const text = [TimeCreated, EventTime, TimeGenerated, record["@timestamp"]].find(
    (time) => typeof time === "string",
  );
  const ms = Date.parse(`${String(text).replace(" ", "T").replace(/Z$/, "")}Z`);
  if (Number.isNaN(ms)) throw new Error(`no time in ${JSON.stringify(record).slice(0, 200)}`);
  return ms;
}

function recordsOf(beginning: string): JsonObject[] {
  const file = readdirSync(RECORDINGS).find((name) => name.startsWith(beginning)) ?? "";
  return readFileSync(join(RECORDINGS, file), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): JsonObject => {
      const record: unknown = JSON.parse(line);
      if (!isJsonObject(record)) throw new Error("no record");
      return record;
    });
}

describe.skipIf(!existsSync(RECORDINGS))("a recorded attack", () => {
  let stores: TestStores;
  let server: AlertServer;
  /** One whose rules have all that comes with the server, so that each chain stands among the others. */
  let organizationId: number;
  beforeAll(async () => {
    stores = await openTestStores();
    server = await alertServer(stores);
    organizationId = await makeOrganization(stores);
    const seeded = await server.send(organizationId, "POST", "/api/v1/correlation-rules/seed", {
      enable: true,
    });
    expect(seeded.body.created).toBe(CORRELATIONS.length);
    await server.work();
  });
  afterAll(() => stores.close());

  for (const [beginning, presetName, id] of CHAINS)
    test(`${beginning}: ${id}`, async () => {
      const preset = presetOf(presetName);
      if (preset === null) throw new Error(`there is no preset ${presetName}`);
      const mapping = compileMapping(preset.mapping);
      const records = recordsOf(beginning);
      const times = records.map(timeOf);
      const [firstMs, lastMs] = [Math.min(...times), Math.max(...times)];
      const before = (await server.toldOf(organizationId)).length;
      // The attack happens once there are rules.
      server.clock.nowMs += lastMs - firstMs + 60_000;
      const entries = records.flatMap((record, i): Entry[] => {
        const { entry } = mapRecord(mapping, record);
        if (entry === null) return [];
        const { message, service, source, host, attrs } = entry;
        const {
          id: _id,
          ts: _ts,
          ...row
        } = rowOf(
          {
            ...{ message, attrs },
            ...(service !== null && { service }),
            ...(source !== null && { source }),
            ...(host !== null && { host }),
          },
          organizationId,
          i,
        );
        return [{ ...row, atMs: server.clock.nowMs - 1000 - (lastMs - timeOf(record)) }];
      });
      const seed = Number(process.env.OBS_SEED) || 7;
      const mixed = shuffled(entries, seed);
      for (let from = 0; from < mixed.length; from += CHUNK) {
        await server.store(organizationId, ...mixed.slice(from, from + CHUNK));
        await server.work();
      }
      const told = (await server.toldOf(organizationId)).slice(before).map(({ payload }) => payload);
      const name = CORRELATIONS.find((rule) => rule.id === id)?.name ?? "";
      const found = told.filter(({ title }) => title?.startsWith(name));
      expect(told.map(({ title }) => title)).toContainEqual(expect.stringContaining(name));
      // Every step names an entry of its own.
      for (const { evidence } of found) {
        const ids = JSON.stringify(evidence).match(/(?<="entryId":")[0-9]+/g) ?? [];
        expect(ids.length).toBeGreaterThan(1);
        expect(new Set(ids).size).toBe(ids.length);
      }
    });
});
