import type { BenchEngine, Settings } from "./engine.ts";
import { logColumns } from "./source-table.ts";

/** A question with several sets of values, so that no run repeats the one before. */
interface Search {
  readonly name: string;
  readonly sql: readonly string[];
}

/** As the server sends them: see docs/storage.md. The cache of earlier answers is off, it would flatter repetitions. */
const searchSettings: Settings = {
  use_query_condition_cache: 0,
  use_top_k_dynamic_filtering: 0,
  use_skip_indexes_for_top_k: 0,
};

const newest = "ORDER BY ts DESC, id DESC LIMIT 100";
const hours = ["03", "08", "14", "20"].map(
  (hour) => `ts >= '2026-01-10 ${hour}:00:00' AND ts < '2026-01-10 ${hour}:59:59.999'`,
);

/** The questions, with values drawn from the stored rows. */
export async function makeSearches(engine: BenchEngine): Promise<Search[]> {
  const sample = async (column: string, condition: string): Promise<string[]> =>
    (
      await engine.query(
        `SELECT ${column} FROM source WHERE organization_id = 1 AND ${condition} ORDER BY sipHash64(row) LIMIT 12`,
      )
    ).split("\n");
  const needles = await sample("extract(message, 'ticket (Qz[0-9a-f]+)')", "message LIKE '%ticket Qz%'");
  const addresses = await sample(
    "extract(message, '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+')",
    "match(message, '[0-9]{3}[.][0-9]+[.][0-9]{2,3}[.][0-9]{2,3}')",
  );
  const users = await sample("attrs['user_id']", "toUInt32OrZero(substring(attrs['user_id'], 2)) > 90000");
  const ids = await sample("toString(id)", "1");
  return [
    rows("newest", ["1"]),
    rows("level", ["level = 'error'", "level = 'warn'", "level = 'debug'"]),
    rows("rare level", ["level = 'fatal'"]),
    rows("service", ["service = 'hdfs-api'", "service = 'linux-worker'", "service = 'system1-api'"]),
    rows("newest of an hour", hours),
    rows("needle", needles.map(holds)),
    rows(
      "part of a needle, 8 characters",
      needles.map((needle) => holds(needle.slice(3, 11))),
    ),
    rows(
      "phrase with a needle",
      needles.map((needle) => holds(`ticket ${needle.slice(0, 6)}`)),
    ),
    rows("IPv4 address", addresses.map(holds)),
    rows("word that does not occur", ["OutOfMemoryError", "zebra-crossing"].map(holds)),
    rows("5 characters that do not occur", ["zqxwv", "qqzzx"].map(holds)),
    rows("frequent word", ["exception", "failed", "received"].map(holds)),
    rows("cased letters beyond ASCII", ["positionCaseInsensitiveUTF8(message, 'STRAßE') > 0"]),
    values(
      "count of a word, 1 hour",
      "count()",
      hours.map((hour) => `${hour} AND ${holds("failed")}`),
    ),
    rows(
      "trace_id",
      (await sample("trace_id", "trace_id != ''")).map((id) => `trace_id = '${id}'`),
    ),
    rows(
      "event_id",
      (await sample("event_id", "event_id != ''")).map((id) => `event_id = '${id}'`),
    ),
    rows("id", ids.map(isId)),
    rows("attribute, frequent value", ["attrs['status'] = '500'", "attrs['method'] = 'POST'"]),
    rows(
      "attribute, rare value",
      users.map((user) => `attrs['user_id'] = '${user}'`),
    ),
    rows("attribute, absent value", ["attrs['user_id'] = 'nobody'"]),
    rows("attribute > number", ["toFloat64OrNull(attrs['duration_ms']) > 1090"]),
    values("count by attribute", "count()", ["attrs['status'] = '500'"]),
    values("count by service", "service, count()", ["1"], "GROUP BY service"),
    values("histogram by level", histogram, ["1"], "GROUP BY start, level"),
    values("top attribute values", "attrs['user_id'] AS value, count() AS n", ["1"], topOf),
    values("attribute keys", "arrayJoin(attrs.keys) AS value, count() AS n", ["1"], topOf),
    values("attribute keys, 1 hour", "arrayJoin(attrs.keys) AS value, count() AS n", hours, topOf),
  ];
}

const histogram = "toStartOfInterval(ts, INTERVAL 600 SECOND) AS start, level, count()";
const topOf = "GROUP BY value ORDER BY n DESC LIMIT 10";

function rows(name: string, conditions: readonly string[]): Search {
  return values(name, logColumns.join(", "), conditions, newest);
}

function values(name: string, columns: string, conditions: readonly string[], tail = ""): Search {
  const sql = conditions.map(
    (condition) => `SELECT ${columns} FROM logs WHERE organization_id = 1 AND ${condition} ${tail}`,
  );
  return { name, sql };
}

/** ASCII text anywhere in the message, whatever its case. */
function holds(text: string): string {
  const pattern = text.toLowerCase().replace(/[\\%_]/g, "\\$&");
  return `lower(message) LIKE '%${pattern.replace(/[\\']/g, "\\$&")}%'`;
}

/** The id holds the millisecond of its row's `received_at`, and so names the partition. */
function isId(id: string): string {
  const received = `fromUnixTimestamp64Milli(toInt64(bitShiftRight(toUInt64(${id}), 22) + 1577836800000), 'UTC')`;
  return `id = ${id} AND received_at = ${received}`;
}

export interface SearchTime {
  readonly name: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs every question `runs` times, the questions taking turns with their values. The slowest is the p99 below 100 runs. */
export async function timeSearches(
  engine: BenchEngine,
  searches: readonly Search[],
  runs: number,
): Promise<SearchTime[]> {
  const results: SearchTime[] = [];
  for (const { name, sql } of searches) {
    const times: number[] = [];
    for (let run = -1; run < runs; run++) {
      const startedAt = performance.now();
      await engine.query(sql[(run + sql.length) % sql.length] ?? "", searchSettings);
      if (run >= 0) times.push(performance.now() - startedAt);
    }
    times.sort((a, b) => a - b);
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    results.push({ name, p50Ms: at(0.5), p99Ms: at(0.99) });
  }
  return results;
}
