import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROLES, type Role, SCOPES } from "../../src/access/principal.ts";
import { hashToken, mintPersonalAccessToken } from "../../src/access/secret-token.ts";
import { type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

/**
 * Who may call what, for every operation of the server's own OpenAPI document: a route is covered on the day it is
 * added. The callers are rows in the database, so that every combination of role and scopes exists.
 */

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly isPublic: boolean;
  /** Null where any credential will do. */
  readonly role: Role | null;
  readonly scope: string | null;
  readonly isAudited: boolean;
}

/** An answer that takes longer has been let in: the status is what is judged. */
const ANSWER_TIMEOUT_MS = 180_000;
/** Ends the caller's own session or sends its browser elsewhere; covered by suites of their own. */
const UNDER_ANOTHER_RULE = new Set(["GET /api/v1/logs/tail"]);

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
let operations: readonly Operation[];
let organizationId: number;
const tokens = new Map<string, string>();

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = await startServer({
    dataDirectory: directory.path,
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
  });
  operations = await readOperations(server.url);
  const [organization] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('matrix', now()) RETURNING id`;
  organizationId = organization?.id ?? 0;
});
afterAll(async () => {
  await server.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

async function readOperations(url: string): Promise<Operation[]> {
  const document: { paths: Record<string, Record<string, Record<string, unknown>>> } = JSON.parse(
    await (await fetch(`${url}/openapi.json`)).text(),
  );
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      isPublic: Array.isArray(operation.security) && operation.security.length === 0,
      role: ROLES.find((role) => role === operation["x-required-role"]) ?? null,
      scope: typeof operation["x-required-scope"] === "string" ? operation["x-required-scope"] : null,
      isAudited: operation["x-audit-action"] !== undefined,
    })),
  );
}

/** The token of a member of this role with these scopes, made on first use. */
async function tokenOf(
  role: Role,
  scopes: readonly string[],
  state: "live" | "expired" | "revoked" = "live",
): Promise<string> {
  const key = `${role} ${scopes.join()} ${state}`;
  const known = tokens.get(key);
  if (known !== undefined) return known;
  const token = mintPersonalAccessToken();
  const { postgres: sql } = stores;
  await sql`
    WITH person AS (
      INSERT INTO users (email, created_at) VALUES (${`${crypto.randomUUID()}@example.com`}, now()) RETURNING id
    ), member AS (
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT ${organizationId}, id, ${role}, now() FROM person RETURNING user_id
    )
    INSERT INTO personal_access_tokens
      (organization_id, user_id, token_hash, name, prefix, scopes, created_at, expires_at, revoked_at)
    SELECT ${organizationId}, user_id, ${hashToken(token)}, 'matrix', ${token.slice(0, 12)}, ${[...scopes]}, now(),
           ${state === "expired" ? new Date(Date.now() - 1000) : null}, ${state === "revoked" ? new Date() : null}
    FROM member`;
  tokens.set(key, token);
  return token;
}

/** Calls an operation with ids that nothing has and a body that no schema takes. */
async function call(
  { method, path }: Operation,
  token: string | null,
): Promise<{ status: number; code: string }> {
  const response = await fetch(`${server.url}${path.replaceAll(/\{[^}]+\}/g, "999999999")}`, {
    method,
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(method !== "GET" && { "content-type": "application/json" }),
    },
    ...(method !== "GET" && { body: '{"no such field":1}' }),
  });
  if (response.status < 400) {
    await response.body?.cancel();
    return { status: response.status, code: "" };
  }
  const body: { code?: string } = JSON.parse(await response.text());
  return { status: response.status, code: body.code ?? "" };
}

/** The operations whose answer to a call is not what it should be. */
async function wrong(
  chosen: readonly Operation[],
  credential: (operation: Operation) => Promise<string | null>,
  expected: string,
): Promise<string[]> {
  const found: string[] = [];
  for (const operation of chosen) {
    const { status, code } = await call(operation, await credential(operation));
    const answer = `${status} ${code}`;
    const isAsExpected =
      expected === "let in"
        ? status !== 401 && code !== "FORBIDDEN" && code !== "PAT_SCOPE_INSUFFICIENT"
        : answer === expected;
    if (!isAsExpected) found.push(`${operation.method} ${operation.path}: ${answer}`);
  }
  return found;
}

function guarded(): Operation[] {
  return operations.filter(
    (operation) => !operation.isPublic && !UNDER_ANOTHER_RULE.has(`${operation.method} ${operation.path}`),
  );
}

const rolesBelow = (role: Role): Role[] => ROLES.slice(0, ROLES.indexOf(role));
const rolesFrom = (role: Role): Role[] => ROLES.slice(ROLES.indexOf(role));

describe("of the server's whole API", () => {
  test("every operation that changes something says which action is audited, or stores logs, or only reads", () => {
    const silent = operations.filter(
      ({ method, isAudited, path, isPublic }) =>
        method !== "GET" && !isAudited && !isPublic && !READS_AND_INGEST.test(path),
    );
    expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(operations.length).toBeGreaterThan(20);
  });

  test("every operation that is not public refuses a caller without a credential", async () => {
    expect(await wrong(guarded(), async () => null, "401 UNAUTHENTICATED")).toEqual([]);
  });

  test.each(["expired", "revoked"] as const)("every operation refuses a token that is %s", async (state) => {
    expect(await wrong(guarded(), () => tokenOf("owner", ["*"], state), "401 UNAUTHENTICATED")).toEqual([]);
  });

  test("every operation refuses a token that nobody was given", async () => {
    expect(await wrong(guarded(), async () => mintPersonalAccessToken(), "401 UNAUTHENTICATED")).toEqual([]);
  });

  test("every operation refuses an owner's token that has every scope but the right one", async () => {
    const scoped = guarded().filter(({ scope }) => scope !== null);
    const others = ({ scope }: Operation) => SCOPES.filter((other) => other !== scope);
    expect(await wrong(scoped, (one) => tokenOf("owner", others(one)), "403 PAT_SCOPE_INSUFFICIENT")).toEqual(
      [],
    );
  });

  test.each([...ROLES])(
    "every operation above a %s's role refuses one, whatever the token's scopes",
    async (role) => {
      const above = guarded().filter((one) => one.role !== null && rolesBelow(one.role).includes(role));
      expect(await wrong(above, () => tokenOf(role, ["*"]), "403 FORBIDDEN")).toEqual([]);
    },
  );

  test.each([...ROLES])(
    "every operation within a %s's role lets one in with the one scope it needs",
    async (role) => {
      const within = guarded().filter((one) => one.role === null || rolesFrom(one.role).includes(role));
      expect(await wrong(within, (one) => tokenOf(role, [one.scope ?? "*"]), "let in")).toEqual([]);
    },
  );
});

/** Operations whose method says that they change something and which do not change an organisation's state. */
const READS_AND_INGEST =
  /^\/(?:api\/v1\/(?:kql\/completions$|logs\/(?:query|tail\/session|ingest)|(?:(?:log|metric)-alerts|correlation-rules)\/preview$|ingest\/(?:\{sourceKey\}|sources\/(?:(?:\{key\}\/)?infer-mapping|\{key\}\/records)|rules\/preview)$|config\/plan$|otlp\/)|gelf|mcp$|upload|elasticsearch\/|loki\/|services\/collector)/;
