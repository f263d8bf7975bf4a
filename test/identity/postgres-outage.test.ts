import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ACCOUNT_FREE_FAILURES, CREDENTIAL_CACHE_LIFE_MS } from "../../src/identity/limits.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { eventually } from "../harness/eventually.ts";
import { waitAsUsual } from "../harness/patience.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../harness/tcp-proxy.ts";
import { type IdentityServer, identityServer, PASSWORD, refusalOf, withCookie } from "./identity-server.ts";

const ME = "/api/v1/me";
const TOKENS = "/api/v1/me/tokens";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** A server whose way to Postgres can be cut. */
async function cuttableServer(): Promise<{
  server: IdentityServer;
  proxy: TcpProxy;
  close: () => Promise<void>;
}> {
  const url = new URL(stores.postgresUrl);
  const proxy = await openTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  const sql = createPostgres(url.href);
  return {
    server: identityServer(stores, { sql }),
    proxy,
    close: async () => {
      await sql.end({ timeout: 0 });
      await proxy.close();
    },
  };
}

describe("while Postgres is away", () => {
  waitAsUsual();

  test("every call that needs it is 503 with Retry-After, never 401, and works again afterwards", async () => {
    const { server, proxy, close } = await cuttableServer();
    const { email, cookie } = await server.register();
    const { token } = await server.mint(cookie);
    const headers = withCookie(cookie);
    const json = { email, password: PASSWORD };
    proxy.cut();
    const answers = await Promise.all([
      server.send("GET", ME, { as: token }),
      server.send("GET", ME, { as: `obs_${"a".repeat(43)}` }),
      server.send("GET", ME, { headers }),
      server.send("POST", TOKENS, { headers, json: { name: "x" } }),
      server.send("POST", "/api/v1/auth/login", { json }),
      server.send("POST", "/api/v1/auth/register", { json }),
      server.send("POST", "/api/v1/auth/logout", { headers }),
    ]);
    for (const answer of answers) {
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(await refusalOf(answer)).toBe("503 UNAVAILABLE");
    }
    proxy.restore();
    await eventually("the token works again", async () => {
      const { status } = await server.send("GET", ME, { as: token });
      return status === 200 || null;
    });
    expect((await server.send("GET", ME, { headers })).status).toBe(200);
    expect((await server.logIn(email)).status).toBe(200);
    await close();
  });

  test("a remembered credential is trusted for its second and no longer", async () => {
    const { server, proxy, close } = await cuttableServer();
    const { cookie } = await server.register();
    const { token } = await server.mint(cookie);
    const authenticate = () =>
      server.authenticator.authenticate(
        new Request("http://localhost/", { headers: { authorization: `Bearer ${token}` } }),
      );
    expect(await authenticate()).toMatchObject({ kind: "token" });
    await server.authenticator.settled();
    proxy.cut();
    server.clock.advance(CREDENTIAL_CACHE_LIFE_MS - 1);
    expect(await authenticate()).toMatchObject({ kind: "token" });
    server.clock.advance(1);
    await expect(authenticate()).rejects.toMatchObject({ name: "DependencyError", retryable: true });
    await close();
  });

  test("what is refused without asking it is still refused as such", async () => {
    const { server, proxy, close } = await cuttableServer();
    proxy.cut();
    expect(await refusalOf(await server.send("GET", ME))).toBe("401 UNAUTHENTICATED");
    expect(await refusalOf(await server.send("GET", ME, { as: "obs_short" }))).toBe("401 UNAUTHENTICATED");
    const json = { email: "no address", password: PASSWORD };
    expect(await refusalOf(await server.send("POST", "/api/v1/auth/login", { json }))).toBe(
      "400 VALIDATION_FAILED",
    );
    expect((await server.send("POST", "/api/v1/auth/logout")).status).toBe(204);
    await close();
  });
});

describe("a client that is closed", () => {
  const closedServer = async (): Promise<IdentityServer> => {
    const sql = createPostgres(stores.postgresUrl);
    await sql.end();
    return identityServer(stores, { sql });
  };

  test("is an outage, not a refusal", async () => {
    const answer = await (await closedServer()).send("GET", ME, { as: `obs_${"a".repeat(43)}` });
    expect(await refusalOf(answer)).toBe("503 UNAVAILABLE");
  });

  test("makes no attempt to log in count as failed, however many there are", async () => {
    const server = await closedServer();
    for (let attempt = 0; attempt < ACCOUNT_FREE_FAILURES * 2; attempt += 1) {
      expect(await refusalOf(await server.logIn("ana@example.com"))).toBe("503 UNAVAILABLE");
    }
    expect(server.hashing.verifies).toBe(0);
  });
});

test("a use that cannot be written down does not fail the request", async () => {
  const server = identityServer(stores);
  const { cookie } = await server.register();
  const { token } = await server.mint(cookie);
  await stores.postgres`
    ALTER TABLE personal_access_tokens ADD CONSTRAINT unused CHECK (last_used_at IS NULL) NOT VALID`;
  expect((await server.send("GET", ME, { as: token })).status).toBe(200);
  await server.authenticator.settled();
  await stores.postgres`ALTER TABLE personal_access_tokens DROP CONSTRAINT unused`;
});
