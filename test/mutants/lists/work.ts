import type { Mutant } from "../mutant.ts";

const CLAIMS = ["test/jobs/claims"];

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
    find: "return this.#putBack(sql, claim, 0, 1);",
    replace: "return this.#putBack(sql, claim, 0, 0);",
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
];
