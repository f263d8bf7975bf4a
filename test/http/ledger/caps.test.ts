/** Daily caps of tokens: exact to one, however many calls there are, instances, and restarts in between. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { DailyCaps } from "../../../src/usage/daily-caps.ts";
import { principalOf } from "../../audit/audited-organization.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization, outcomeOf, START_MS, THINGS, thingServer } from "./thing-server.ts";

/** From noon to midnight. */
const REST_OF_DAY_MS = 12 * 3_600_000;

let stores: TestStores;
let sql: TestStores["postgres"];
let secondSql: TestStores["postgres"];
let organizationId: number;
let tokenId: number;

beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  secondSql = createPostgres(stores.postgresUrl);
  organizationId = await makeOrganization(sql);
  await sql`INSERT INTO users (email, created_at) VALUES ('ana@example.com', now())`;
  await sql`
    INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (${organizationId}, 1, 'owner', now())`;
});
afterAll(async () => {
  await secondSql.end();
  await stores.close();
});

beforeEach(async () => {
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO personal_access_tokens (organization_id, user_id, token_hash, name, prefix, scopes, created_at)
    VALUES (${organizationId}, 1, sha256(${crypto.randomUUID()}::text::bytea), 'laptop', 'obs_laptop12', '{*}', now())
    RETURNING id`;
  tokenId = Number(row?.id);
});

async function usage(): Promise<{ day: string; mutations: number; log_bytes: number }[]> {
  return sql`
    SELECT day::text AS day, mutations::integer AS mutations, log_bytes::integer AS log_bytes FROM token_usage
    WHERE token_id = ${tokenId} ORDER BY day`;
}

describe("dailyMutationLimit", () => {
  test("lets exactly so many of 50 calls at once pass on two instances, and none after a restart", async () => {
    const as = { tokenId, dailyMutations: 20 };
    const servers = [sql, secondSql].map((pool) => thingServer(pool, organizationId));
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const answer = await servers[i % 2]?.post({ name: "capped" }, { as });
        return answer === undefined ? "" : outcomeOf(answer);
      }),
    );
    expect(outcomes.filter((outcome) => outcome === "201").length).toBe(20);
    expect(outcomes.filter((outcome) => outcome === "429 PAT_DAILY_LIMIT_EXCEEDED").length).toBe(30);
    const restarted = await thingServer(sql, organizationId).post({ name: "capped" }, { as });
    expect(restarted.headers.get("retry-after")).toBe(String(REST_OF_DAY_MS / 1000));
    expect(await outcomeOf(restarted)).toBe("429 PAT_DAILY_LIMIT_EXCEEDED");
    expect(await usage()).toEqual([{ day: "2026-03-01", mutations: 20, log_bytes: 0 }]);
  });

  test("starts anew at midnight UTC", async () => {
    const server = thingServer(sql, organizationId);
    const post = async () =>
      outcomeOf(await server.post({ name: "daily" }, { as: { tokenId, dailyMutations: 1 } }));
    expect([await post(), await post()]).toEqual(["201", "429 PAT_DAILY_LIMIT_EXCEEDED"]);
    server.nowMs = START_MS + REST_OF_DAY_MS - 1;
    expect(await post()).toBe("429 PAT_DAILY_LIMIT_EXCEEDED");
    server.nowMs += 1;
    expect([await post(), await post()]).toEqual(["201", "429 PAT_DAILY_LIMIT_EXCEEDED"]);
    expect((await usage()).map(({ day }) => day)).toEqual(["2026-03-01", "2026-03-02"]);
  });

  test("counts calls that are refused for their content, and neither reads nor calls without a cap", async () => {
    const server = thingServer(sql, organizationId);
    const as = { tokenId, dailyMutations: 2 };
    await server.post({ name: "uncapped" }, { as: { tokenId } });
    await server.post({ name: "session" }, { as: { tokenId: null, dailyMutations: 0 } });
    expect((await server.send("GET", THINGS)).status).toBe(405);
    expect(await usage()).toEqual([]);
    expect(await outcomeOf(await server.post({ wrong: 1 }, { as }))).toBe("400 VALIDATION_FAILED");
    expect(await outcomeOf(await server.post({ name: "second" }, { as }))).toBe("201");
    expect(await outcomeOf(await server.post({ name: "third" }, { as }))).toBe(
      "429 PAT_DAILY_LIMIT_EXCEEDED",
    );
  });

  test("of nothing lets nothing pass", async () => {
    const server = thingServer(sql, organizationId);
    const answer = await server.post({ name: "none" }, { as: { tokenId, dailyMutations: 0 } });
    expect(await outcomeOf(answer)).toBe("429 PAT_DAILY_LIMIT_EXCEEDED");
    expect(await usage()).toEqual([]);
  });
});

describe("dailyLogBytesLimit", () => {
  function taker(pool: TestStores["postgres"], limit: number | null, now: () => number = () => START_MS) {
    const caps = new DailyCaps({ sql: pool, now });
    const principal = principalOf(organizationId, {
      tokenId,
      caps: { dailyMutations: null, dailyLogBytes: limit },
    });
    return (bytes: number): Promise<boolean> =>
      caps.takeLogBytes(principal, bytes).then(
        () => true,
        (error) => {
          expect(error).toMatchObject({ code: "PAT_DAILY_LIMIT_EXCEEDED", status: 429 });
          return false;
        },
      );
  }

  test("lets pass what fits, all or nothing of a batch, on two instances", async () => {
    const takers = [taker(sql, 1_000), taker(secondSql, 1_000)];
    const taken = await Promise.all(Array.from({ length: 50 }, (_, i) => takers[i % 2]?.(30) ?? false));
    expect(taken.filter(Boolean).length).toBe(33);
    const [first] = takers;
    expect([await first?.(11), await first?.(10), await first?.(1)]).toEqual([false, true, false]);
    expect(await usage()).toEqual([{ day: "2026-03-01", mutations: 0, log_bytes: 1_000 }]);
    expect(await taker(sql, 1_000, () => START_MS + REST_OF_DAY_MS)(1_000)).toBe(true);
  });

  test("refuses one batch larger than the cap, and counts nothing without a cap", async () => {
    expect(await taker(sql, 1_000)(1_001)).toBe(false);
    expect(await taker(sql, null)(10_000_000)).toBe(true);
    expect(await usage()).toEqual([]);
    const large = Number.MAX_SAFE_INTEGER;
    expect([await taker(sql, large)(large), await taker(sql, large)(1)]).toEqual([true, false]);
  });

  test("and the cap of changes do not touch each other", async () => {
    await taker(sql, 5)(5);
    const answer = await thingServer(sql, organizationId).post(
      { name: "both" },
      { as: { tokenId, dailyMutations: 1 } },
    );
    expect(answer.status).toBe(201);
    expect(await usage()).toEqual([{ day: "2026-03-01", mutations: 1, log_bytes: 5 }]);
  });
});
