import type { Sql } from "postgres";
import { hashToken } from "../../../access/secret-token.ts";
import { ApiError } from "../../../errors.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";

/** What a job says of itself: that it lives or has done its work, that it begins, that it failed. */
export type HeartbeatSignal = "alive" | "start" | "fail";

interface HeartbeatDependencies {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Tells what watches the deadlines, on this instance. */
  readonly onMonitorsChanged: () => void;
}

/** Takes in what jobs say of themselves. */
export class HeartbeatReceiver {
  readonly #deps: HeartbeatDependencies;

  constructor(deps: HeartbeatDependencies) {
    this.#deps = deps;
  }

  /**
   * Writes a heartbeat down, durably, before it answers. Looks across organisations, for the token is all that the sender
   * has. Throws NOT_FOUND for a token that no monitor has.
   */
  async receive(token: string, signal: HeartbeatSignal): Promise<void> {
    const { sql, now, onMonitorsChanged } = this.#deps;
    const at = new Date(now());
    const hash = hashToken(token);
    const known = await askPostgres(() =>
      signal === "start"
        ? sql`
            UPDATE monitor_state s SET heartbeat_started_at = ${at}
            FROM monitors m WHERE m.heartbeat_token_hash = ${hash} AND s.monitor_id = m.id RETURNING 1`
        : sql`
            UPDATE monitor_state s
            SET heartbeat_received_at = ${at}, heartbeat_started_at = NULL, heartbeat_failed = ${signal === "fail"}
            FROM monitors m WHERE m.heartbeat_token_hash = ${hash} AND s.monitor_id = m.id RETURNING 1`,
    );
    if (known.length === 0) throw new ApiError("NOT_FOUND", "No such heartbeat.");
    onMonitorsChanged();
  }
}
