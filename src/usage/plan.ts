import type { Sql, TransactionSql } from "postgres";
import { ApiError } from "../errors.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { inOrganization } from "../storage/organization-transaction.ts";
import { type GiveBack, NOTHING_TO_GIVE_BACK } from "./log-bytes.ts";

/** What every organisation of this server may have; null is unlimited. */
export interface Plan {
  readonly name: string;
  readonly maxMonitors: number | null;
  readonly monthlyChecks: number | null;
  readonly monthlyLogBytes: number | null;
}

interface PlanUsage {
  readonly monitors: number;
  readonly monthlyChecks: number;
  readonly monthlyLogBytes: number;
}

/** Counts what organisations use of their plan, by months of UTC, as exactly as `DailyCaps` does. */
export class PlanCaps {
  readonly plan: Plan;
  readonly #sql: Sql;
  readonly #now: () => number;

  constructor(deps: { plan: Plan; sql: Sql; now: () => number }) {
    this.plan = deps.plan;
    this.#sql = deps.sql;
    this.#now = deps.now;
  }

  /**
   * Counts unpacked bytes of logs before they are stored. Throws PLAN_LIMIT_LOG_BYTES, and counts none, when they
   * would pass the plan's limit. Answers how to take them back when nothing was stored.
   */
  async takeLogBytes(organizationId: number, bytes: number): Promise<GiveBack> {
    const limit = this.plan.monthlyLogBytes;
    if (limit === null) return NOTHING_TO_GIVE_BACK;
    const month = this.#month();
    const [counted] = await askPostgres(
      () => this.#sql`
        INSERT INTO organization_usage AS used (organization_id, month, log_bytes)
        SELECT ${organizationId}, ${month}, ${bytes}::bigint WHERE ${bytes}::bigint <= ${limit}::bigint
        ON CONFLICT (organization_id, month) DO UPDATE SET log_bytes = used.log_bytes + ${bytes}::bigint
        WHERE used.log_bytes + ${bytes}::bigint <= ${limit}::bigint
        RETURNING 1`,
    );
    if (counted === undefined)
      throw new ApiError("PLAN_LIMIT_LOG_BYTES", `The plan allows ${limit} bytes of logs a month (UTC).`, {
        retryAfterSeconds: Math.ceil((this.#nextMonthMs() - this.#now()) / 1000),
      });
    return async () => {
      await askPostgres(
        () => this.#sql`
          UPDATE organization_usage SET log_bytes = log_bytes - ${bytes}::bigint
          WHERE organization_id = ${organizationId} AND month = ${month}`,
      );
    };
  }

  /** What the organisation has used this month. */
  usage(organizationId: number): Promise<PlanUsage> {
    const month = this.#month();
    return askPostgres(() =>
      inOrganization(this.#sql, organizationId, (tx) => findUsage(tx, organizationId, month)),
    );
  }

  #month(): string {
    return `${new Date(this.#now()).toISOString().slice(0, 7)}-01`;
  }

  #nextMonthMs(): number {
    const now = new Date(this.#now());
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  }
}

async function findUsage(tx: TransactionSql, organizationId: number, month: string): Promise<PlanUsage> {
  const [row] = await tx<{ monitors: string; checks: string | null; log_bytes: string | null }[]>`
    SELECT (SELECT count(*) FROM monitors WHERE organization_id = ${organizationId}) AS monitors, u.checks, u.log_bytes
    FROM (SELECT 1) AS one
    LEFT JOIN organization_usage u ON u.organization_id = ${organizationId} AND u.month = ${month}`;
  return {
    monitors: Number(row?.monitors ?? 0),
    monthlyChecks: Number(row?.checks ?? 0),
    monthlyLogBytes: Number(row?.log_bytes ?? 0),
  };
}
