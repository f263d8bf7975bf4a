import type { Mutant } from "../mutant.ts";

const RATE_LIMIT = ["test/http/rate-limit.test.ts"];
const CAPS = ["test/http/ledger/caps.test.ts"];
const PLAN = ["test/usage"];
const IDEMPOTENCY = ["test/http/ledger/idempotency.test.ts", "test/http/ledger/lost-executions.test.ts"];

/** Rate limit, caps and plans, idempotency, bodies. */
export const REQUESTS: readonly Mutant[] = [
  {
    name: "a bucket is full again when the generations turn",
    file: "src/http/rate-limit/memory-limiter.ts",
    find: "this.#old.get(key) ?? {",
    replace: "{",
    tests: RATE_LIMIT,
  },
  {
    name: "strangers get the limit of a credential",
    file: "src/http/rate-limit/rate-gate.ts",
    find: "principal === null ? limits.anonymousPerMinute : limits.perMinute);",
    replace: "limits.perMinute);",
    tests: RATE_LIMIT,
  },
  {
    name: "credentials behind one address share a bucket",
    file: "src/http/rate-limit/rate-gate.ts",
    find: "principal === null ? addressKey(clientAddress) : principal.credentialKey;",
    replace: "addressKey(clientAddress);",
    tests: RATE_LIMIT,
  },
  {
    name: "a part of a call is enough for a call",
    file: "src/http/rate-limit/rate-limiter.ts",
    find: "const allowed = held >= 1;",
    replace: "const allowed = held > 0;",
    tests: RATE_LIMIT,
  },
  {
    name: "what the rate limit refuses is done all the same",
    file: "src/http/pipeline.ts",
    find: "if (rate.allowed) return;",
    replace: "if (rate.limit >= 0) return;",
    tests: [...RATE_LIMIT, "test/http/pipeline.test.ts"],
  },
  {
    name: "a day has one change more than its cap",
    file: "src/usage/daily-caps.ts",
    find: "WHERE used.mutations + 1 <=",
    replace: "WHERE used.mutations <=",
    tests: CAPS,
  },
  {
    name: "the bytes of a request do not count where the cap is judged",
    file: "src/usage/daily-caps.ts",
    find: "WHERE used.log_bytes + ${bytes}::bigint <=",
    replace: "WHERE used.log_bytes <=",
    tests: [...PLAN, ...CAPS],
  },
  {
    name: "the bytes of a request do not count where the plan is judged",
    file: "src/usage/plan.ts",
    find: "WHERE used.log_bytes + ${bytes}::bigint <=",
    replace: "WHERE used.log_bytes <=",
    tests: PLAN,
  },
  {
    name: "what was not stored stays counted for its token",
    file: "src/usage/count-log-bytes.ts",
    find: "Promise.allSettled([ofToken(), ofPlan?.()])",
    replace: "Promise.allSettled([ofPlan?.()])",
    tests: PLAN,
  },
  {
    name: "what was not stored is counted twice for its plan",
    file: "src/usage/plan.ts",
    find: "SET log_bytes = log_bytes -",
    replace: "SET log_bytes = log_bytes +",
    tests: PLAN,
  },
  {
    name: "a key stands for requests with other bodies",
    file: "src/http/ledger/idempotency.ts",
    find: "hash.update(body.subarray(at, at + COPY_SLICE_BYTES));",
    replace: "hash.update(body.subarray(at, at));",
    tests: IDEMPOTENCY,
  },
  {
    name: "the sessions of all people have their keys in common",
    file: "src/http/ledger/idempotency.ts",
    find: "principal.tokenId === null ? `user:${principal.userId}`",
    replace: "principal.tokenId === null ? `user`",
    tests: IDEMPOTENCY,
  },
  {
    name: "a key is taken from an execution that lives",
    file: "src/http/ledger/idempotency-store.ts",
    find: "OR (held.answer IS NULL AND held.leased_until <= now() AND held.fingerprint",
    replace: "OR (held.answer IS NULL AND held.fingerprint",
    tests: IDEMPOTENCY,
  },
  {
    name: "a key is taken for another request when its execution died",
    file: "src/http/ledger/idempotency-store.ts",
    find: " AND held.fingerprint = excluded.fingerprint",
    replace: "",
    tests: IDEMPOTENCY,
  },
  {
    name: "an execution that has lost its key commits",
    file: "src/http/ledger/idempotency.ts",
    find: "throw inProgress(1);",
    replace: "return;",
    tests: IDEMPOTENCY,
  },
  {
    name: "what the server failed at is remembered as the answer",
    file: "src/http/ledger/execute-once.ts",
    find: "const isFinal = error.status < 500 && error.status !== 429;",
    replace: "const isFinal = error.status < 600;",
    tests: IDEMPOTENCY,
  },
  {
    name: "the answer is not kept in the transaction of its change",
    file: "src/http/ledger/request-ledger.ts",
    find: "if (execution !== null) await execution.keepIn(change.tx, rememberReply(made));",
    replace: "",
    tests: IDEMPOTENCY,
  },
  {
    name: "a large body may be larger by a byte when it is unpacked",
    file: "src/http/unpack.ts",
    find: "if (bytes.length <= maxBytes) return;",
    replace: "if (bytes.length <= maxBytes + 1) return;",
    tests: ["test/http/read-body.test.ts"],
  },
  {
    name: "a time is stored that comes out as another",
    file: "src/http/stored-values.ts",
    find: "return !(ms < EARLIEST_MS || storedMs > LATEST_MS);",
    replace: "return !(storedMs > LATEST_MS);",
    tests: ["test/server/storable-values.test.ts"],
  },
  {
    name: "a turn to unpack is given back twice",
    file: "src/http/unpack-turns.ts",
    find: "    this.#isHeld = false;\n    const begin",
    replace: "    const begin",
    tests: ["test/http/read-body.test.ts"],
  },
  {
    name: "a body of no declared length may have twice as much",
    file: "src/http/read-body.ts",
    find: "if (bytes.length + value.length > maxBytes) throw tooLarge(maxBytes);",
    replace: "if (bytes.length + value.length > 2 * maxBytes) throw tooLarge(maxBytes);",
    tests: ["test/http/read-body.test.ts"],
  },
  {
    name: "a delivery is not checked against its signature",
    file: "src/domains/logs/receive/platforms/signature.ts",
    find: 'if (!SHA1_HEX.test(given) || !timingSafeEqual(Buffer.from(given, "hex"), expected))',
    replace: "if (!SHA1_HEX.test(given) || expected.length === 0)",
    tests: ["test/domains/logs/receive/platforms/deployment-drain.test.ts"],
  },
];
