import type { Mutant } from "../mutant.ts";

const CLAIMS = ["test/jobs/claims"];
const STORED = ["test/http/ledger/stored-requests.test.ts"];
const COPIES = ["test/ingest/wal/names.test.ts", "test/ingest/copied-log.test.ts"];

/** Claims and leases of work that instances share. */
export const WORK: readonly Mutant[] = [
  {
    name: "a row is taken from a holder that lives",
    file: "src/jobs/claims/work-queue.ts",
    find: "WHERE ${sql(due)} <= now() AND ${where}",
    replace: "WHERE ${where}",
    tests: CLAIMS,
  },
  {
    name: "two that look at the same moment take the same row",
    file: "src/jobs/claims/work-queue.ts",
    find: "LIMIT ${max} FOR UPDATE SKIP LOCKED",
    replace: "LIMIT ${max}",
    tests: CLAIMS,
  },
  {
    name: "whoever looks for work waits for whoever is taking some",
    file: "src/jobs/claims/work-queue.ts",
    find: "FOR UPDATE SKIP LOCKED",
    replace: "FOR UPDATE",
    tests: CLAIMS,
  },
  {
    name: "an attempt that its holder did not survive is not counted",
    file: "src/jobs/claims/work-queue.ts",
    find: "${sql(attempts)} = ${sql(attempts)} + 1",
    replace: "${sql(attempts)} = greatest(${sql(attempts)}, 1)",
    tests: CLAIMS,
  },
  {
    name: "what nobody has tried counts as an attempt",
    file: "src/jobs/claims/work-queue.ts",
    find: "return this.#putBack(sql, claim, delayMs, 1);",
    replace: "return this.#putBack(sql, claim, delayMs, 0);",
    tests: CLAIMS,
  },
  {
    name: "a holder that has put its row off may still complete it",
    file: "src/jobs/claims/work-queue.ts",
    find: "SET ${this.freed(sql)}, ${sql(due)}",
    replace: "SET ${sql(due)}",
    tests: CLAIMS,
  },
  {
    name: "a holder that has lost its row completes it all the same",
    file: "src/jobs/claims/leased-rows.ts",
    find: "sql`${sql(column)} = ${claim}`,",
    replace: "sql`true`,",
    tests: CLAIMS,
  },
  {
    name: "a holder acts on all rows of its claim for one",
    file: "src/jobs/claims/leased-rows.ts",
    find: "return Object.entries(key).reduce(",
    replace: "return Object.entries({} as typeof key).reduce(",
    tests: CLAIMS,
  },
  {
    name: "who has lost a lease does not hear of it",
    file: "src/jobs/claims/leased-rows.ts",
    find: "    return count > 0;\n  }\n\n  /** Removes rows",
    replace: "    return count >= 0;\n  }\n\n  /** Removes rows",
    tests: CLAIMS,
  },
  {
    name: "a renewal that fails is the last one",
    file: "src/jobs/claims/keep-renewed.ts",
    find: "setInterval(() => void renew().catch(() => undefined), everyMs);",
    replace: "setInterval(() => void renew().catch(() => clearInterval(timer)), everyMs);",
    tests: CLAIMS,
  },
  {
    name: "a turn whose work failed is kept",
    file: "src/jobs/claims/turns.ts",
    find: "await askPostgres(() => TURNS.giveBack(sql, claim)).catch(() => undefined);",
    replace: "",
    tests: CLAIMS,
  },
  {
    name: "a request is taken from an instance that nobody has asked",
    file: "src/http/ledger/idempotency-store.ts",
    find: "OR held.asked_at <= ${fromNow",
    replace: "OR held.leased_until <= ${fromNow",
    tests: STORED,
  },
  {
    name: "a log that was given up is forgotten",
    file: "src/http/ledger/idempotency-store.ts",
    find: "ELSE held.lost_logs || held.log END",
    replace: "ELSE held.lost_logs END",
    tests: STORED,
  },
  {
    name: "a request that was given up and refused elsewhere is free",
    file: "src/http/ledger/idempotency-store.ts",
    find: "AND lost_logs <> '{}'`;\n  if (kept",
    replace: "AND false`;\n  if (kept",
    tests: STORED,
  },
  {
    name: "entries are given away that nobody has stored",
    file: "src/http/ledger/idempotency-store.ts",
    find: "if (row.is_done) takenOver",
    replace: "if (!row.is_held) takenOver",
    tests: STORED,
  },
  {
    name: "entries that somebody else has stored are flushed",
    file: "ingest/insertion.ts",
    find: "missingRows(store, blocks, this.#givenAway, signal)",
    replace: "missingRows(store, blocks, new Map(), signal)",
    tests: STORED,
  },
  {
    name: "a copy of a log goes by the name of its original",
    file: "ingest/wal/names.ts",
    find: ": [...before, own].slice(-NAMES_MAX);",
    replace: ": before;",
    tests: COPIES,
  },
  {
    name: "what a log found in its directory goes out under a new name",
    file: "ingest/wal/names.ts",
    find: "this.#names.findLast(({ since }) => since <= position) ?? oldest;",
    replace: "this.#names.at(-1) ?? oldest;",
    tests: COPIES,
  },
  {
    name: "an insert has entries of two names",
    file: "ingest/wal/wal.ts",
    find: "limits.through ?? Number.POSITIVE_INFINITY, this.names.endAt(position)",
    replace: "limits.through ?? Number.POSITIVE_INFINITY",
    tests: COPIES,
  },
];
