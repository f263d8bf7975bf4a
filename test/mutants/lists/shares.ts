import type { Mutant } from "../mutant.ts";

const FAIR = ["test/concurrency/fair-share.test.ts"];
const MEMORY = ["test/concurrency/memory-share.test.ts"];
const STATEMENTS = ["test/concurrency/admission.test.ts"];
const NUMBERS = ["test/storage/instance"];
const CLOCK = ["test/jobs/clock"];
const MOVING = ["test/domains/logs/archive/moving-entries.test.ts"];

/** What a server gives to whom, and what it believes: shares, memory, its number, the time, where entries lie. */
export const SHARES: readonly Mutant[] = [
  {
    name: "a holder takes what it ought to leave to others",
    file: "src/concurrency/fair-share.ts",
    find: "left -= held + amount;",
    replace: "left -= amount;",
    tests: FAIR,
  },
  {
    name: "what one holds in an organisation does not count for the organisation",
    file: "src/concurrency/fair-share.ts",
    find: "      const held = this.#heldBy(path, depth) + amount;",
    replace: "      const held = (depth === 0 ? 0 : this.#heldBy(path, depth)) + amount;",
    tests: FAIR,
  },
  {
    name: "a share is refused to an organisation for what another one holds",
    file: "src/concurrency/fair-share.ts",
    find: 'if (held > 0) taking = "share_used_up";',
    replace: 'taking = "share_used_up";',
    tests: FAIR,
  },
  {
    name: "what an answer held is never given back",
    file: "src/concurrency/memory-share.ts",
    find: "    this.#all.giveBack(this.#holder, spare);",
    replace: "",
    tests: MEMORY,
  },
  {
    name: "what an answer has reserved stays taken when it is over",
    file: "src/concurrency/memory-share.ts",
    find: "    this.#reservedBytes = 0;\n",
    replace: "",
    tests: MEMORY,
  },
  {
    name: "an answer that is closed twice gives back what others hold",
    file: "src/concurrency/memory-share.ts",
    find: "    this.#heldBytes -= spare;\n",
    replace: "",
    tests: MEMORY,
  },
  {
    name: "what a statement had of the memory stays taken",
    file: "src/concurrency/admission.ts",
    find: "this.#memory -= memory;",
    replace: "",
    tests: STATEMENTS,
  },
  {
    name: "memory that is taken is given once more",
    file: "src/concurrency/admission.ts",
    find: "return this.#memory + memory <= 1 && this.#nextForMemory() === null;",
    replace: "return this.#nextForMemory() === null;",
    tests: STATEMENTS,
  },
  {
    name: "a number is used when its lease is over",
    file: "src/storage/instance/instance-lease.ts",
    find: "if (held === null || !isWithinLease(held, nowMs, monotonicNow())) {",
    replace: "if (held === null) {",
    tests: NUMBERS,
  },
  {
    name: "a lease holds by the clock that stands still in sleep",
    file: "src/storage/instance/instance-lease.ts",
    find: "nowMs - held.sinceMs < lifeMs && ",
    replace: "",
    tests: NUMBERS,
  },
  {
    name: "a number is kept that was given to another",
    file: "src/storage/instance/instance-store.ts",
    find: "WHERE number = ${number} AND holder = ${holder} AND lease_until > now()`",
    replace: "WHERE number = ${number}`",
    tests: NUMBERS,
  },
  {
    name: "a number is given out whose ids are ahead of the clock",
    file: "src/storage/instance/instance-store.ts",
    find: " AND i.ids_through < ${new Date(nowMs)})",
    replace: ")",
    tests: NUMBERS,
  },
  {
    name: "a clock that is set forward is believed at once",
    file: "src/jobs/clock/believed-clock.ts",
    find: "Math.min(now(), Math.max(...known, confirmedMs ?? 0))",
    replace: "now()",
    tests: CLOCK,
  },
  {
    name: "a clock that is set back undoes what is known",
    file: "src/jobs/clock/believed-clock.ts",
    find: "believedMs: Math.max(kept.believedMs, believedMs), ...reading",
    replace: "believedMs, ...reading",
    tests: CLOCK,
  },
  {
    name: "a reading of another start of the machine counts",
    file: "src/jobs/clock/believed-clock.ts",
    find: "boot === reading.boot ?",
    replace: 'boot !== "" ?',
    tests: CLOCK,
  },
  {
    name: "entries of both places are read twice",
    file: "query/emit/statement.ts",
    find: "[select, ...this.#from({ sql: this.#table(scan), scan }, moved)],",
    replace: "[select, ...this.#from({ sql: this.#table(scan), scan }, [])],",
    tests: ["test/domains/logs/archive/moving-entries.test.ts", "test/query/restriction.test.ts"],
  },
  {
    name: "what moved while it was read is not read again",
    file: "src/archive/reading/log-ranges.ts",
    find: "const isCurrent = await reading.isCurrent();",
    replace: "const isCurrent = true;",
    tests: MOVING,
  },
  {
    name: "an answer that may lack entries does not say so",
    file: "src/archive/reading/log-ranges.ts",
    find: "if (!isCurrent && attempt === READ_MAX_ATTEMPTS) reading.coverage.setMoving();",
    replace: "",
    tests: MOVING,
  },
  {
    name: "small statements may take more than the store has left for them",
    file: "src/storage/statement-bounds.ts",
    find: "Math.floor((partBytes - this.#sharedBytes) / places),",
    replace: "Math.floor(partBytes / places),",
    tests: ["test/storage/statement-bounds.test.ts"],
  },
  {
    name: "live tails have as much of the store as searches, and those all of it",
    file: "src/storage/statement-bounds.ts",
    find: "const partBytes = Math.floor(memoryBytes * memory);",
    replace: "const partBytes = memoryBytes;",
    tests: ["test/storage/statement-bounds.test.ts"],
  },
  {
    name: "pages that were written to are given back to the file",
    file: "src/storage/embedded/loaded-pages.ts",
    find: "/^Anonymous: +0 kB$/",
    replace: "/^Anonymous: +[0-9]+ kB$/",
    tests: ["test/storage/loaded-pages.test.ts"],
  },
  {
    name: "a server beside others does not drain",
    file: "src/config/config.ts",
    find: "drainSeconds ?? (databaseUrl === null ?",
    replace: "drainSeconds ?? (databaseUrl !== null ?",
    tests: ["test/config/config.test.ts"],
  },
];
