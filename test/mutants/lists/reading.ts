import type { Mutant } from "../mutant.ts";

const TENANCY = ["test/query/kql-tenancy.test.ts", "test/query/guard.test.ts"];
const FUNCTIONS = ["test/query/functions/conditions.test.ts", "test/query/kql-golden.test.ts"];
const SEARCH = ["test/domains/logs/search.test.ts", "test/domains/logs/search-paging.test.ts"];
const CURSOR = ["test/domains/logs/cursor.test.ts", ...SEARCH];
const MATCHER = ["test/domains/logs/tail/batch-matcher.test.ts", "test/domains/logs/tail/tail-hub.test.ts"];
const TAIL = ["test/domains/logs/tail/tail.test.ts"];
const RESUME = ["test/domains/logs/tail/resume.test.ts", "test/domains/logs/tail/position.test.ts"];
const QUEUE = ["test/domains/logs/tail/reader-queue.test.ts", "test/domains/logs/tail/slow-reader.test.ts"];

/** Statements of a query and their bounds, nulls, cursors, live tails. */
export const READING: readonly Mutant[] = [
  {
    name: "a layered statement reads all organisations",
    file: "query/emit/statement.ts",
    find: "const where = [...restriction, ...conditions];",
    replace: "const where = sql.startsWith('(') ? [...restriction, ...conditions] : conditions;",
    tests: TENANCY,
  },
  {
    name: "a statement reads all organisations",
    file: "query/emit/statement.ts",
    find: "organizationColumn} = ",
    replace: "organizationColumn} <= ",
    tests: TENANCY,
  },
  {
    name: "a statement reads beyond the end of its time range",
    file: "query/emit/statement.ts",
    find: "...(to === null ? [] : [`${table.timeColumn} <= ${to}`]),",
    replace: "",
    tests: TENANCY,
  },
  {
    name: "a plan answers with any number of rows",
    file: "query/guard.ts",
    find: "this.relation = limit(withGuardedScans(relation, this.scope), maxRows);",
    replace: "this.relation = withGuardedScans(relation, this.scope);",
    tests: TENANCY,
  },
  {
    name: "another value than null is no other value",
    file: "query/functions/comparison.ts",
    find: 'const whenOneIsNull = operator === "=" ? "false" : "true";',
    replace: 'const whenOneIsNull = operator === "=" ? "false" : "false";',
    tests: FUNCTIONS,
  },
  {
    name: "two nulls are equal",
    file: "query/functions/comparison.ts",
    find: "AND isNull(${right}), NULL, ifNull(",
    replace: "AND isNull(${right}), ${operator} = '=', ifNull(",
    tests: FUNCTIONS,
  },
  {
    name: "null is in every list",
    file: "query/functions/comparison.ts",
    find: " IN ${values}, false)`;",
    replace: " IN ${values}, true)`;",
    tests: FUNCTIONS,
  },
  {
    name: "a table has any number of columns for a completion",
    file: "query/completion/column-flow.ts",
    find: "const COLUMNS_MAX_COUNT = 1000;",
    replace: "const COLUMNS_MAX_COUNT = 1_000_000;",
    tests: ["test/query/completion"],
  },
  {
    name: "a search goes on with the cursor of another organisation",
    file: "src/domains/logs/cursor.ts",
    find: ".update(`${organizationId}:${filters}`)",
    replace: ".update(`${filters}`)",
    tests: CURSOR,
  },
  {
    name: "a search goes on with the cursor of another search",
    file: "src/domains/logs/cursor.ts",
    find: ".update(`${organizationId}:${filters}`)",
    replace: ".update(`${organizationId}`)",
    tests: CURSOR,
  },
  {
    name: "later pages show what came after the first",
    file: "src/domains/logs/search.ts",
    find: "newestId: cursor?.newestId ?? facts.newestId };",
    replace: "newestId: LOG_ID_MAX };",
    tests: SEARCH,
  },
  {
    name: "a page begins with the last entry of the one before",
    file: "src/domains/logs/search.ts",
    find: "if (++count === limit) last = positionOf(row);",
    replace: "if (++count === limit - 1) last = positionOf(row);",
    tests: SEARCH,
  },
  {
    name: "a tail shows entries of all organisations",
    file: "src/domains/logs/tail/batch-matcher.ts",
    find: "(row) => this.#block.organizationId(row) === organizationId,",
    replace: "(row) => this.#block.organizationId(row) > 0,",
    tests: MATCHER,
  },
  {
    name: "a tail shows entries of younger organisations",
    file: "src/domains/logs/tail/batch-matcher.ts",
    find: "(row) => this.#block.organizationId(row) === organizationId,",
    replace: "(row) => this.#block.organizationId(row) >= organizationId,",
    tests: MATCHER,
  },
  {
    name: "a tail shows entries of older organisations",
    file: "src/domains/logs/tail/batch-matcher.ts",
    find: "(row) => this.#block.organizationId(row) === organizationId,",
    replace: "(row) => this.#block.organizationId(row) <= organizationId,",
    tests: MATCHER,
  },
  {
    name: "the rows of an organisation are remembered for all of them",
    file: "src/domains/logs/tail/batch-matcher.ts",
    find: "`organization ${organizationId}`,",
    replace: "`organization`,",
    tests: MATCHER,
  },
  {
    name: "a stream may leave the search of its session",
    file: "src/domains/logs/tail/read-filter.ts",
    find: "search: bothOf(own.search, fixed.search),",
    replace: "search: own.search ?? fixed.search,",
    tests: TAIL,
  },
  {
    name: "a stream may leave the service of its session",
    file: "src/domains/logs/tail/read-filter.ts",
    find: "if (own[name] !== null && fixed[name] !== null && own[name] !== fixed[name])",
    replace: "if (own[name] !== null && fixed[name] === null && own[name] === fixed[name])",
    tests: [...TAIL, "test/domains/logs/tail/limits.test.ts"],
  },
  {
    name: "a session outlives the revocation of its token",
    file: "src/domains/logs/tail/session-store.ts",
    find: 'idsOf("token")} AND p.revoked_at IS NULL',
    replace: 'idsOf("token")}',
    tests: TAIL,
  },
  {
    name: "a session has no end",
    file: "src/domains/logs/tail/session-store.ts",
    find: " AND t.expires_at > ${new Date(nowMs)}",
    replace: "",
    tests: TAIL,
  },
  {
    name: "an entry at which a reader stands is shown again",
    file: "src/domains/logs/tail/position.ts",
    find: "return id > (this.#sources.get(sourceOf(id)) ?? this.#floor);",
    replace: "return id >= (this.#sources.get(sourceOf(id)) ?? this.#floor);",
    tests: RESUME,
  },
  {
    name: "a gap is read before the store has it",
    file: "src/domains/logs/tail/stored-gap.ts",
    find: "    await this.#waitForStore();",
    replace: "",
    tests: RESUME,
  },
  {
    name: "entries that a slow reader does not get are not counted",
    file: "src/domains/logs/tail/reader-queue.ts",
    find: "this.#dropping.count += item.dropped.count;",
    replace: "",
    tests: QUEUE,
  },
  {
    name: "a reader's queue has no bound in characters",
    file: "src/domains/logs/tail/reader-queue.ts",
    find: "this.#chars + chars > QUEUE_MAX_CHARS ||",
    replace: "",
    tests: QUEUE,
  },
  {
    name: "what waits for a reader that is gone stays counted",
    file: "src/domains/logs/tail/reader-queue.ts",
    find: "    this.#giveBack(this.#chars);",
    replace: "",
    tests: QUEUE,
  },
  {
    name: "a quiet tail is closed like any silent connection",
    file: "src/http/pipeline.ts",
    find: "if (plan.idleTimeoutSec !== undefined) connection.setIdleTimeout?.(plan.idleTimeoutSec);",
    replace: "",
    tests: TAIL,
  },
  {
    name: "an attribute that cannot be decided rules its row out",
    file: "src/domains/logs/tail/bounded-rows.ts",
    find: "return answer !== false;",
    replace: "return answer === true;",
    tests: ["test/domains/logs/tail/query.test.ts", "test/query/match"],
  },
];
