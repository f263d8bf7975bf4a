import type { Sql } from "postgres";
import type { Principal } from "../access/principal.ts";
import { ApiError } from "../errors.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { type GiveBack, NOTHING_TO_GIVE_BACK } from "./log-bytes.ts";

const DAY_MS = 86_400_000;

/**
 * Counts what tokens with daily caps do, by days of UTC. The counters are rows in Postgres and change by one statement
 * each, so they are exact however many instances count and whenever they restart. Tokens without caps cost nothing.
 */
export class DailyCaps {
  readonly #sql: Sql;
  readonly #now: () => number;

  constructor(deps: { sql: Sql; now: () => number }) {
    this.#sql = deps.sql;
    this.#now = deps.now;
  }

  /** Counts one state-changing call. Throws PAT_DAILY_LIMIT_EXCEEDED when the day's are used up. */
  async takeMutation({ tokenId, organizationId, caps }: Principal): Promise<void> {
    const limit = caps.dailyMutations;
    if (limit === null || tokenId === null) return;
    const day = this.#day();
    const [counted] = await askPostgres(
      () => this.#sql`
        INSERT INTO token_usage AS used (token_id, organization_id, day, mutations)
        SELECT ${tokenId}, ${organizationId}, ${day}, 1 WHERE 1 <= ${limit}::bigint
        ON CONFLICT (token_id, day) DO UPDATE SET mutations = used.mutations + 1
        WHERE used.mutations + 1 <= ${limit}::bigint
        RETURNING 1`,
    );
    if (counted === undefined) throw this.#exceeded(`${limit} state-changing calls`);
  }

  /**
   * Counts unpacked bytes of logs before they are stored. Throws PAT_DAILY_LIMIT_EXCEEDED, and counts none, when
   * they would pass the cap. Answers how to take them back when nothing was stored.
   */
  async takeLogBytes({ tokenId, organizationId, caps }: Principal, bytes: number): Promise<GiveBack> {
    const limit = caps.dailyLogBytes;
    if (limit === null || tokenId === null) return NOTHING_TO_GIVE_BACK;
    const day = this.#day();
    const [counted] = await askPostgres(
      () => this.#sql`
        INSERT INTO token_usage AS used (token_id, organization_id, day, log_bytes)
        SELECT ${tokenId}, ${organizationId}, ${day}, ${bytes}::bigint WHERE ${bytes}::bigint <= ${limit}::bigint
        ON CONFLICT (token_id, day) DO UPDATE SET log_bytes = used.log_bytes + ${bytes}::bigint
        WHERE used.log_bytes + ${bytes}::bigint <= ${limit}::bigint
        RETURNING 1`,
    );
    if (counted === undefined) throw this.#exceeded(`${limit} bytes of logs`);
    return async () => {
      await askPostgres(
        () => this.#sql`
          UPDATE token_usage SET log_bytes = log_bytes - ${bytes}::bigint
          WHERE token_id = ${tokenId} AND day = ${day}`,
      );
    };
  }

  #day(): string {
    return new Date(this.#now()).toISOString().slice(0, 10);
  }

  #exceeded(cap: string): ApiError {
    const nowMs = this.#now();
    return new ApiError("PAT_DAILY_LIMIT_EXCEEDED", `The token is capped at ${cap} a day (UTC).`, {
      retryAfterSeconds: Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000),
    });
  }
}
