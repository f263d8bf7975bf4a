/** What follows from a change happens though the server that made it is killed in the middle of it. */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { createPostgres } from "../../src/storage/postgres.ts";
import { eventually } from "../harness/eventually.ts";
import { makeToken, startServer } from "../harness/server-process.ts";
import { openTestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const PASSWORD = "correct horse battery";

test("a person whose last membership ended has an organisation of their own in the end, and one only", async () => {
  const stores = await openTestStores();
  const sql = stores.postgres;
  const env = { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl };
  using first = temporaryDirectory();
  using second = temporaryDirectory();
  const blocker = createPostgres(stores.postgresUrl, { maxConnections: 1 });
  const dying = await startServer({ dataDirectory: first.path, env });
  const token = await makeToken(dying.url);
  const call = (url: string, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const email = `${crypto.randomUUID()}@example.com`;
  const invited: unknown = await (
    await call(dying.url, "POST", "/me/invites", { email, role: "member" })
  ).json();
  const { token: inviteToken } = Value.Parse(Type.Object({ token: Type.String() }), invited);
  const registration = { email, password: PASSWORD, inviteToken };
  expect((await call(dying.url, "POST", "/auth/register", registration)).status).toBe(201);
  const [person] = await sql<{ id: string }[]>`SELECT id FROM users WHERE email = ${email}`;
  const userId = Number(person?.id);

  const held = Promise.withResolvers<void>();
  const blocked = Promise.withResolvers<void>();
  const holding = blocker.begin(async (tx) => {
    await tx`SELECT 1 FROM users WHERE id = ${userId} FOR UPDATE`;
    blocked.resolve();
    await held.promise;
  });
  await blocked.promise;
  expect((await call(dying.url, "DELETE", `/me/members/${userId}`)).status).toBe(204);
  await eventually("the handler waits in its transaction", async () => {
    const [row] = await sql`
      SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' LIMIT 1`;
    return row !== undefined;
  });
  dying.kill("SIGKILL");
  await dying.exited;
  held.resolve();
  await holding;
  await blocker.end();
  expect(await sql`SELECT 1 FROM memberships WHERE user_id = ${userId}`).toHaveLength(0);

  const server = await startServer({ dataDirectory: second.path, env });
  // The lease of the dead one is over by now, as it would be half a minute later.
  await sql`UPDATE event_deliveries SET due_at = now()`;
  await eventually("the sign-in", async () => {
    const login = await call(server.url, "POST", "/auth/login", { email, password: PASSWORD });
    return login.status === 200;
  });
  expect([...(await sql`SELECT role FROM memberships WHERE user_id = ${userId}`)]).toEqual([
    { role: "owner" },
  ]);
  expect(await sql`SELECT 1 FROM event_deliveries`).toHaveLength(0);
  await server.stop();
  await stores.close();
});
