import type { Sql } from "postgres";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { keepRenewed } from "./keep-renewed.ts";
import { TURN_LEASE_MS, TURN_RENEW_MS } from "./limits.ts";
import { WorkQueue } from "./work-queue.ts";

const TURNS = new WorkQueue({
  table: "job_turns",
  key: "name",
  claim: "claim_id",
  due: "next_attempt_at",
  attempts: "attempts",
});

/** Does work of which there is one of a kind, unless another instance is doing it; null then. */
export async function takeTurn<T>(sql: Sql, name: string, work: () => Promise<T>): Promise<T | null> {
  const [turn] = await askPostgres(() =>
    TURNS.take(sql, {
      where: sql`name = ${name}`,
      order: sql`name`,
      max: 1,
      leaseMs: TURN_LEASE_MS,
      columns: sql`name`,
    }),
  );
  if (turn === undefined) return null;
  const claim = { claim: turn.claim, key: { name } };
  using _renewal = keepRenewed(
    () => askPostgres(() => TURNS.renew(sql, claim, TURN_LEASE_MS)),
    TURN_RENEW_MS,
  );
  try {
    return await work();
  } finally {
    // One that cannot be given back is over with its lease.
    await askPostgres(() => TURNS.giveBack(sql, claim)).catch(() => undefined);
  }
}
