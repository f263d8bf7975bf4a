import type { Sql } from "postgres";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { Claimant } from "./claimant.ts";
import { keepRenewed } from "./keep-renewed.ts";
import { TURN_LEASE_MS, TURN_RENEWALS } from "./limits.ts";
import { WorkQueue } from "./work-queue.ts";

const TURNS = new WorkQueue({
  table: "job_turns",
  key: "name",
  claim: "claim_id",
  due: "next_attempt_at",
  attempts: "attempts",
});

/**
 * Does work of which there is one of a kind, unless another instance is doing it; null then. With a `claimant` a server that
 * died of it may have the turn back before its lease is over; with a short lease, for what people wait for, any other server soon.
 */
export async function takeTurn<T>(
  sql: Sql,
  name: string,
  work: () => Promise<T>,
  claimant: Claimant = new Claimant(null),
  leaseMs = TURN_LEASE_MS,
): Promise<T | null> {
  const [turn] = await askPostgres(() =>
    TURNS.take(
      sql,
      { where: sql`name = ${name}`, order: sql`name`, max: 1, leaseMs, columns: sql`name` },
      claimant.next(),
    ),
  );
  if (turn === undefined) return null;
  const claim = { claim: turn.claim, key: { name } };
  using _renewal = keepRenewed(
    () => askPostgres(() => TURNS.renew(sql, claim, leaseMs)),
    leaseMs / TURN_RENEWALS,
  );
  let isDone = false;
  try {
    const done = await work();
    isDone = true;
    return done;
  } finally {
    // One that cannot be given back is over with its lease.
    await askPostgres(() => (isDone ? TURNS.release(sql, claim) : TURNS.giveBack(sql, claim))).catch(
      () => undefined,
    );
  }
}

/** Frees a turn that this server had when it died; see `WorkQueue.takeBack`. */
export async function takeTurnBack(sql: Sql, name: string, claimant: Claimant): Promise<void> {
  await askPostgres(() => TURNS.takeBack(sql, claimant, sql`name = ${name}`));
}
