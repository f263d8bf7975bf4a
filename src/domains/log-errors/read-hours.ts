import { readRows } from "../../rules/seal/read-rows.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { errorKey } from "./finding/error-finder.ts";

const HOUR_MS = 3_600_000;

/** How many errors groups have together in each hour, by its beginning in milliseconds since 1970. Throws a DependencyError. */
export async function readHours(
  endpoint: ClickHouseEndpoint,
  organizationId: number,
  fingerprints: readonly string[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const rows = await readRows(
    endpoint,
    `SELECT toUnixTimestamp64Milli(toDateTime64(bucket, 3)) AS at, sum(n) FROM signals
     WHERE organization_id = {organization: UInt32} AND kind = 'error' AND key IN {keys: Array(UInt64)}
       AND label IN {fingerprints: Array(String)}
       AND bucket >= fromUnixTimestamp64Milli({from: Int64}) AND bucket < fromUnixTimestamp64Milli({to: Int64})
     GROUP BY at`,
    {
      organization: String(organizationId),
      keys: `[${fingerprints.map((fingerprint) => String(errorKey(fingerprint))).join(",")}]`,
      // Base 16: nothing in them has to be escaped.
      fingerprints: `[${fingerprints.map((fingerprint) => `'${fingerprint}'`).join(",")}]`,
      from: String(fromMs),
      to: String(toMs),
    },
    signal,
  );
  return new Map(rows.map(([at, n]) => [Number(at), Number(n)]));
}

interface StartedCount {
  readonly start: string;
  readonly count: number;
}

/** As many hours or days up to the one that a moment is in, oldest first, those without errors too. */
export function lastCounts(
  hours: ReadonlyMap<number, number>,
  nowMs: number,
  hoursEach: 1 | 24,
  count: number,
): StartedCount[] {
  const widthMs = hoursEach * HOUR_MS;
  const last = Math.floor(nowMs / widthMs);
  return Array.from({ length: count }, (_, i) => {
    const startMs = (last - count + 1 + i) * widthMs;
    const within = Array.from(
      { length: hoursEach },
      (_each, hour) => hours.get(startMs + hour * HOUR_MS) ?? 0,
    );
    return { start: new Date(startMs).toISOString(), count: within.reduce((sum, n) => sum + n, 0) };
  });
}
