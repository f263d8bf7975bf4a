import type { Sql } from "postgres";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import type { Logger } from "../../../log.ts";
import type { CheckOutcome } from "../../../probes/check.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { HEARTBEATS_EVERY_MS, HEARTBEATS_MAX_ROWS, STOP_MS } from "./limits.ts";
import type { RoundCommit } from "./round-commit.ts";
import { LOCAL_REGION, type Round } from "./rounds.ts";

interface HeartbeatWatchOptions {
  readonly sql: Sql;
  readonly shards: () => readonly number[];
  readonly commit: RoundCommit;
  readonly log: Logger;
}

/** A monitor from which something came, or should have come. Milliseconds since 1970, by the clock of the database. */
interface HeartbeatRow {
  id: string;
  shard: number;
  last_slot: string;
  received_ms: string;
  is_news: boolean;
  failed: boolean;
  /** The last deadline that is over. */
  deadline_ms: string;
  interval_ms: number;
  now_ms: string;
}

/**
 * Makes rounds of heartbeats that came and of those that did not: each one is a round, and so is every deadline that is over.
 * A deadline counts from the last heartbeat, from when the monitor was resumed, and from when somebody began to listen
 * again, whichever was last. Before the first heartbeat nothing is known.
 */
export class HeartbeatWatch extends BackgroundWork {
  readonly #options: HeartbeatWatchOptions;

  constructor(options: HeartbeatWatchOptions) {
    super({
      pollMs: HEARTBEATS_EVERY_MS,
      failure: "heartbeats could not be judged",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Records what is due; true when there may be more. */
  async workOnce(): Promise<boolean> {
    const { sql, shards, commit } = this.#options;
    const rows = await askPostgres(() => findDue(sql, shards()));
    if (rows.length > 0) await commit.commit(rows.map(roundOf));
    return rows.length === HEARTBEATS_MAX_ROWS;
  }
}

function findDue(sql: Sql, shards: readonly number[]): Promise<HeartbeatRow[]> {
  const ms = (column: ReturnType<Sql>) => sql`(extract(epoch FROM ${column}) * 1000)::bigint`;
  return sql<HeartbeatRow[]>`
    WITH watched AS (
      SELECT m.id, m.shard, m.interval_sec * 1000 AS interval_ms, s.last_slot, s.heartbeat_failed AS failed,
             ${ms(sql`s.heartbeat_received_at`)} AS received_ms,
             s.heartbeat_seen_at IS DISTINCT FROM s.heartbeat_received_at AS is_news,
             ${ms(sql`greatest(s.heartbeat_received_at, m.resumed_at, r.run_since)`)}
               + (m.interval_sec + m.heartbeat_grace_sec) * 1000::bigint AS first_deadline_ms,
             ${ms(sql`now()`)} AS now_ms
      FROM monitors m
      JOIN monitor_state s ON s.monitor_id = m.id
      JOIN monitor_shards r ON r.shard = m.shard
      WHERE m.type = 'heartbeat' AND NOT m.paused AND m.shard = ANY(${[...shards]}::smallint[])
        AND s.heartbeat_received_at IS NOT NULL
    ), judged AS (
      SELECT *, first_deadline_ms + (now_ms - first_deadline_ms) / interval_ms * interval_ms AS deadline_ms
      FROM watched
    )
    SELECT id, shard, last_slot, received_ms, is_news, failed, deadline_ms, interval_ms, now_ms FROM judged
    WHERE is_news OR (now_ms >= first_deadline_ms AND deadline_ms > last_slot)
    ORDER BY id LIMIT ${HEARTBEATS_MAX_ROWS}`;
}

function roundOf(row: HeartbeatRow): Round {
  const receivedMs = Number(row.received_ms);
  const deadlineMs = Number(row.deadline_ms);
  const atMs = row.is_news ? receivedMs : deadlineMs;
  const slotMs = Math.max(atMs, Number(row.last_slot) + 1);
  const error = !row.is_news ? "heartbeat_missed" : row.failed ? "heartbeat_failed" : null;
  const outcome: CheckOutcome = {
    status: error === null ? "up" : "down",
    error,
    durationMs: 0,
    phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
    statusCode: null,
    certificateNotAfter: null,
    failedStep: null,
  };
  const lateMs = Math.max(0, Number(row.now_ms) - atMs);
  return {
    monitorId: Number(row.id),
    shard: row.shard,
    slotMs,
    nextMs: slotMs + row.interval_ms,
    checks: [{ region: LOCAL_REGION, startedAtMs: atMs, lateMs, outcome }],
    heartbeatAtMs: receivedMs,
  };
}
