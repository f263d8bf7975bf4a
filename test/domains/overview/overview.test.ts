import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { overviewRoutes } from "../../../src/domains/overview/routes.ts";
import { Overview } from "../../../src/domains/overview/types.ts";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bodyOf, type Person, refusalOf, START_MS } from "../../identity/identity-server.ts";
import { queryRunner } from "../../query/query-store.ts";
import { idAt, insertRows } from "../logs/stored-rows.ts";
import { type OrganizationServer, organizationServer } from "../organizations/organization-server.ts";

const OVERVIEW = "/api/v1/overview";
const DAY_MS = 24 * 60 * 60 * 1000;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function overviewServer(runner: QueryRunner = queryRunner(stores)): OrganizationServer {
  return organizationServer(stores, {
    moreRoutes: (parts) => overviewRoutes({ ...parts, ranges: logRanges(stores, { runner }) }),
  });
}

const overviewOf = async (server: OrganizationServer, { cookie }: Person): Promise<Overview> =>
  bodyOf(await server.as(cookie, "GET", OVERVIEW), Overview);

const NO_LOGS = {
  from: new Date(START_MS - DAY_MS).toISOString(),
  to: new Date(START_MS).toISOString(),
  total: 0,
  byLevel: { trace: 0, debug: 0, info: 0, warn: 0, error: 0, fatal: 0 },
  withoutLevel: 0,
};

describe("the overview", () => {
  test("of a new organisation is its owner and nothing else", async () => {
    const server = overviewServer();
    expect(await overviewOf(server, await server.register())).toEqual({
      members: { total: 1, byRole: { viewer: 0, member: 0, admin: 0, owner: 1 } },
      invites: { open: 0 },
      tokens: { active: 0, usedLastDay: 0 },
      savedSearches: { total: 0 },
      tails: { open: 0 },
      monitors: { total: 0, byStatus: { up: 0, degraded: 0, down: 0, unknown: 0, paused: 0 } },
      logs: NO_LOGS,
    });
  });

  test("counts what is the organisation's own and still good", async () => {
    const server = overviewServer();
    const owner = await server.register();
    const stranger = await server.register();
    const { id: organizationId } = owner.account.organization;
    await server.recruit(owner.cookie, "admin");
    for (const role of ["viewer", "viewer", "member"] as const) await server.recruit(owner.cookie, role);
    for (const { cookie } of [owner, stranger]) await server.invite(cookie, "next@example.com", "viewer");
    const used = await server.mint(owner.cookie);
    const revoked = await server.mint(owner.cookie);
    await server.mint(owner.cookie, { expiresAt: new Date(START_MS + 1).toISOString() });
    await server.mint(stranger.cookie);
    await server.as(owner.cookie, "DELETE", `/api/v1/me/tokens/${revoked.id}`);
    await server.send("GET", OVERVIEW, { as: used.token });
    await server.authenticator.settled();
    const expiring = new Date(START_MS + 1);
    await stores.postgres`
      INSERT INTO tail_sessions (token_hash, organization_id, user_id, token_id, filter, created_at, expires_at)
      SELECT sha256(convert_to(${owner.email} || n, 'UTF8')), ${organizationId}, ${owner.account.user.id}, ${used.id},
             '{}', now(), CASE WHEN n = 1 THEN ${expiring}::timestamptz ELSE '2100-01-01' END
      FROM generate_series(1, 3) n`;
    await stores.postgres`
      INSERT INTO saved_searches (organization_id, name, created_at, updated_at)
      VALUES (${organizationId}, 'a', now(), now()), (${stranger.account.organization.id}, 'b', now(), now())`;
    const counts = {
      members: { total: 5, byRole: { viewer: 2, member: 1, admin: 1, owner: 1 } },
      invites: { open: 1 },
      tokens: { active: 2, usedLastDay: 1 },
      savedSearches: { total: 1 },
      tails: { open: 3 },
    };
    expect(await overviewOf(server, owner)).toMatchObject(counts);
    server.clock.advance(1);
    expect(await overviewOf(server, owner)).toMatchObject({
      ...counts,
      tokens: { active: 1, usedLastDay: 1 },
      tails: { open: 2 },
    });
  });

  test("counts monitors by what is confirmed of them, and nobody else's", async () => {
    const server = overviewServer();
    const owner = await server.register();
    const stranger = await server.register();
    const insert = async (
      organizationId: number,
      confirmed: string | null,
      paused = false,
    ): Promise<void> => {
      await stores.postgres`
        WITH made AS (
          INSERT INTO monitors (organization_id, name, url, type, interval_sec, timeout_ms, paused, heartbeat_token_hash,
                                sealed_heartbeat_token, created_at, updated_at)
          VALUES (${organizationId}, 'a', 'b', 'https', 60, 1000, ${paused}, sha256(gen_random_uuid()::text::bytea), '',
                  now(), now())
          RETURNING id
        )
        INSERT INTO monitor_state (monitor_id, organization_id, confirmed)
        SELECT id, ${organizationId}, ${confirmed} FROM made`;
    };
    const { id: own } = owner.account.organization;
    for (const confirmed of ["up", "up", "down", "degraded", null]) await insert(own, confirmed);
    await insert(own, null, true);
    await insert(stranger.account.organization.id, "down");
    expect((await overviewOf(server, owner)).monitors).toEqual({
      total: 6,
      byStatus: { up: 2, degraded: 1, down: 1, unknown: 1, paused: 1 },
    });
  });

  test("counts the log entries of the last day by level, and nobody else's", async () => {
    const server = overviewServer();
    const owner = await server.register();
    const stranger = await server.register();
    const at = (ms: number): { ts: bigint; id: bigint } => ({ ts: BigInt(ms) * 1_000_000n, id: idAt(ms) });
    const { id: organizationId } = owner.account.organization;
    const entry = { organizationId, message: "x" };
    await insertRows(stores.clickhouse, [
      { ...entry, ...at(START_MS), level: "error" },
      { ...entry, ...at(START_MS - 1000), level: "error" },
      { ...entry, ...at(START_MS - DAY_MS), level: "info" },
      { ...entry, ...at(START_MS - 5000) },
      { ...entry, ...at(START_MS - DAY_MS - 1), level: "fatal" },
      { ...entry, ...at(START_MS + 1), level: "fatal" },
      { ...entry, ...at(START_MS), level: "warn", organizationId: stranger.account.organization.id },
    ]);
    expect((await overviewOf(server, owner)).logs).toEqual({
      ...NO_LOGS,
      total: 4,
      byLevel: { ...NO_LOGS.byLevel, error: 2, info: 1 },
      withoutLevel: 1,
    });
  });

  test("goes without the logs while their store does not answer", async () => {
    const { clickhouseEndpoint } = stores;
    const unreachable = { ...clickhouseEndpoint, origin: "http://127.0.0.1:9" };
    const server = overviewServer(queryRunner({ clickhouseEndpoint: unreachable }));
    const owner = await server.register();
    expect(await overviewOf(server, owner)).toMatchObject({ members: { total: 1 }, logs: null });
    expect(server.logged()).toContainEqual(
      expect.objectContaining({ msg: "an overview goes without the count of logs" }),
    );
  });

  test("is for every role, by the scope account:read", async () => {
    const server = overviewServer();
    const owner = await server.register();
    for (const role of ["viewer", "member", "admin", "owner"] as const) {
      const { cookie } = await server.recruit(owner.cookie, role);
      const read = await server.mint(cookie, { scopes: ["account:read"] });
      const other = await server.mint(cookie, { scopes: ["logs:*"] });
      expect((await server.send("GET", OVERVIEW, { as: read.token })).status).toBe(200);
      expect(await refusalOf(await server.send("GET", OVERVIEW, { as: other.token }))).toBe(
        "403 PAT_SCOPE_INSUFFICIENT",
      );
    }
  });
});
