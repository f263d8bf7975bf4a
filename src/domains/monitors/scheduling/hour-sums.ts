import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import { takeTurn } from "../../../jobs/claims/turns.ts";
import type { Logger } from "../../../log.ts";
import { HOURS_EVERY_MS, HOURS_OVERLAP_SEC, STOP_MS } from "./limits.ts";

interface HourSumsOptions {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  readonly log: Logger;
}

/**
 * Sums hours up that have got checks since the last time, from all of their checks: a sum is never added to, so an hour is
 * right however often and however late its checks arrive.
 */
const STATEMENT = `
  INSERT INTO monitor_hours
  WITH (SELECT max(computed_at) FROM monitor_hours) AS last_sum,
    (
      SELECT groupUniqArray(toStartOfHour(started_at)) FROM monitor_checks
      WHERE stored_at >= last_sum - toIntervalSecond({overlap:UInt32})
    ) AS hours
  SELECT organization_id, monitor_id, toStartOfHour(started_at) AS hour, region,
    sumIf(slots, status = 'up'), sumIf(slots, status = 'degraded'), sumIf(slots, status = 'down'),
    sumIf(slots, status = 'unknown'), sumIf(slots, status = 'missed'),
    sumIf(duration_ms, status IN ('up', 'degraded')),
    minIf(duration_ms, status IN ('up', 'degraded')),
    maxIf(duration_ms, status IN ('up', 'degraded')),
    ifNotFinite(quantileIf(0.5)(duration_ms, status IN ('up', 'degraded')), 0),
    ifNotFinite(quantileIf(0.95)(duration_ms, status IN ('up', 'degraded')), 0),
    ifNotFinite(quantileIf(0.99)(duration_ms, status IN ('up', 'degraded')), 0),
    now64(3)
  FROM monitor_checks
  WHERE started_at >= arrayMin(hours) AND started_at < arrayMax(hours) + INTERVAL 1 HOUR
    AND has(hours, toStartOfHour(started_at))
  GROUP BY organization_id, monitor_id, hour, region`;

/** Keeps the hours of monitors summed up; one instance at a time. */
export class HourSums extends BackgroundWork {
  readonly #options: HourSumsOptions;

  constructor(options: HourSumsOptions) {
    super({
      pollMs: HOURS_EVERY_MS,
      failure: "hours of monitors could not be summed up",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  async workOnce(): Promise<boolean> {
    await takeTurn(this.#options.sql, "monitor-hours", () => this.sumOnce());
    return false;
  }

  async sumOnce(): Promise<void> {
    await this.#options.clickhouse.command({
      query: STATEMENT,
      query_params: { overlap: HOURS_OVERLAP_SEC },
    });
  }
}
