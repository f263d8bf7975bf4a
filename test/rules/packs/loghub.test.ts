/** The packs over real logs of ordinary systems: all rules together tell of one thing in each at most. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  isoText,
  LineRecogniser,
  nativeEntryOf,
  type RecognisedEntry,
} from "../../../ingest/recognise/index.ts";
import { PACKS } from "../../../src/rules/packs/catalog.ts";
import { CORRELATIONS } from "../../../src/rules/packs/correlations.ts";
import {
  type AlertServer,
  alertServer,
  makeOrganization,
  PATH,
} from "../../domains/log-alerts/alert-server.ts";
import { idAt, insertRows, type StoredRow, storedText } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { conditionOf, countedBy } from "./pack-store.ts";

const LOGHUB = join(import.meta.dir, "../../../../shared/data/loghub");
const SYSTEMS = ["Android", "Apache", "HDFS", "Hadoop", "Linux", "OpenSSH", "OpenStack", "Zookeeper"];
const RULES = PACKS.flatMap(({ rules }) => rules);
const DETECTIONS_MAX = 1;
const DAY_MS = 86_400_000;
const PREVIEW_DAYS = 31;
const CORRELATION_DAYS = 7;
const WRITTEN_AT = Date.UTC(2017, 0, 1);
/** When the last entry of a system came: ids of entries begin in 2020, later than all of these were written. */
const CAME_BY_MS = Date.UTC(2025, 0, 1);

/**
 * The entries of a system's file, as `obs ship` sends them while they are written: each comes in the second of its own time. All
 * are moved by the same whole number of days.
 */
function rowsOf(system: string, organizationId: number): StoredRow[] {
  const rows: (StoredRow & { readonly atMs: number })[] = [];
  const take = (entry: RecognisedEntry) => {
    const { message, level, service, source, host, attrs } = nativeEntryOf(entry);
    // As it is sent: numbers keep their digits only in JSON.
    const sent: [string, unknown][] = Object.entries(JSON.parse(JSON.stringify(attrs ?? {})));
    const atMs = entry.time === null ? WRITTEN_AT : Date.parse(isoText(entry.time));
    rows.push({
      ...{ organizationId, message, atMs, id: 0n, ts: 0n },
      ...(level !== undefined && { level }),
      ...(service !== undefined && { service }),
      ...(source !== undefined && { source }),
      ...(host !== undefined && { host }),
      attrs: sent.map(([key, value]) => [key, storedText(value)]),
      jsonKeys: sent.flatMap(([key, value]) => (typeof value === "string" || value === null ? [] : [key])),
    });
  };
  const recogniser = new LineRecogniser({ yearReferenceMs: WRITTEN_AT });
  recogniser.push(readFileSync(join(LOGHUB, system, `${system}_2k.log`)), take);
  recogniser.end(take);
  const lastMs = Math.max(...rows.map(({ atMs }) => atMs));
  const movedMs = Math.floor((CAME_BY_MS - lastMs) / DAY_MS) * DAY_MS;
  return rows.map(({ atMs, ...row }, number) => {
    const cameMs = atMs + movedMs;
    return { ...row, id: idAt(cameMs, (number + 1) * 1024), ts: BigInt(cameMs) * 1_000_000n };
  });
}

/** What all rules say of the entries of all systems, asked at once: preparing the questions takes longer than the entries do. */
class Counted {
  readonly #numbers: ReadonlyMap<StoredRow, number>;
  readonly #byKql: ReadonlyMap<string, ReadonlySet<number>>;

  private constructor(
    numbers: ReadonlyMap<StoredRow, number>,
    byKql: ReadonlyMap<string, ReadonlySet<number>>,
  ) {
    this.#numbers = numbers;
    this.#byKql = byKql;
  }

  static async of(stores: TestStores, rows: readonly StoredRow[]): Promise<Counted> {
    const organizationId = await makeOrganization(stores);
    const copies = rows.map((row, i) => ({ ...row, organizationId, id: BigInt(i + 1) * 1024n }));
    await insertRows(stores.clickhouse, copies);
    const asked = [...new Set([...RULES.map(({ kql }) => kql), ...CORRELATIONS.flatMap(needs)])];
    const found = await countedBy(stores, asked.map(conditionOf), organizationId, rows.length);
    return new Counted(
      new Map(rows.map((row, i) => [row, i])),
      new Map(asked.map((kql, i) => [kql, found[i] ?? new Set()])),
    );
  }

  /** How many of these entries a rule counts. */
  among(rows: readonly StoredRow[], kql: string): number {
    const found = this.#byKql.get(kql);
    return rows.filter((row) => found?.has(this.#numbers.get(row) ?? -1)).length;
  }
}

/** Each of them has to find something for the correlation to tell of anything. */
function needs({ condition }: (typeof CORRELATIONS)[number]): readonly string[] {
  return condition.kind === "sequence" ? condition.steps : [condition.matchKql];
}

describe.skipIf(!existsSync(LOGHUB))("logs of ordinary systems", () => {
  let stores: TestStores;
  let server: AlertServer;
  let counted: Counted;
  const rowsOfSystems = new Map<string, readonly StoredRow[]>();
  beforeAll(async () => {
    stores = await openTestStores();
    server = await alertServer(stores);
    for (const system of SYSTEMS) {
      const organizationId = await makeOrganization(stores);
      const rows = rowsOf(system, organizationId);
      await insertRows(stores.clickhouse, rows);
      rowsOfSystems.set(system, rows);
    }
    counted = await Counted.of(stores, [...rowsOfSystems.values()].flat());
  });
  afterAll(() => stores.close());

  /** How often each rule would have told of something, of those that would have. */
  async function tellingRules(
    rows: readonly StoredRow[],
    organizationId: number,
  ): Promise<[string, number][]> {
    const enough = RULES.filter(({ threshold, kql }) => counted.among(rows, kql) >= threshold);
    const times = rows.map(({ ts }) => Number(ts / 1_000_000n));
    const [firstMs, lastMs] = [Math.min(...times), Math.max(...times)];
    const telling: [string, number][] = [];
    for (const { id, name, kql, threshold, windowSec, groupBy } of enough) {
      let episodes = 0;
      for (let fromMs = firstMs; fromMs <= lastMs; fromMs += PREVIEW_DAYS * DAY_MS) {
        const span = [fromMs, fromMs + PREVIEW_DAYS * DAY_MS].map((ms) => new Date(ms).toISOString());
        const { status, body } = await server.send(organizationId, "POST", `${PATH}/preview`, {
          ...{ name, kql, threshold, windowSec, groupBy: [...groupBy], from: span[0], to: span[1] },
        });
        expect(status).toBe(200);
        episodes += body.episodesTotal;
      }
      if (episodes > 0) telling.push([id, episodes]);
    }
    const possible = CORRELATIONS.filter((rule) => needs(rule).every((kql) => counted.among(rows, kql) > 0));
    for (const { id, name, condition, joinField, windowSec } of possible) {
      const asked =
        condition.kind === "sequence"
          ? { kind: condition.kind, steps: condition.steps.map((kql) => ({ kql })) }
          : condition;
      let episodes = 0;
      for (let fromMs = firstMs; fromMs <= lastMs; fromMs += CORRELATION_DAYS * DAY_MS) {
        const span = [fromMs, fromMs + CORRELATION_DAYS * DAY_MS].map((ms) => new Date(ms).toISOString());
        const { status, body } = await server.send(
          organizationId,
          "POST",
          "/api/v1/correlation-rules/preview",
          {
            ...{ name, joinField, windowSec, ...asked, from: span[0], to: span[1] },
          },
        );
        expect(status).toBe(200);
        episodes += body.episodesTotal;
      }
      if (episodes > 0) telling.push([id, episodes]);
    }
    return telling;
  }

  for (const system of SYSTEMS)
    test(`${system}: at most one rule of all packs and correlations tells of anything`, async () => {
      const rows = rowsOfSystems.get(system) ?? [];
      const telling = await tellingRules(rows, rows[0]?.organizationId ?? 0);
      expect(telling.length, JSON.stringify(telling)).toBeLessThanOrEqual(DETECTIONS_MAX);
    });
});
