import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { hashToken } from "../../../src/access/secret-token.ts";
import { EXPORTERS } from "../../../src/domains/export/exporters.ts";
import { LEFT_OUT } from "../../../src/domains/export/left-out.ts";
import { EXPORT_FETCH_ROWS, EXPORTS_MAX_RUNNING } from "../../../src/domains/export/limits.ts";
import { exportRoutes } from "../../../src/domains/export/routes.ts";
import { listen } from "../../../src/http/server.ts";
import { WebhookSecret } from "../../../src/notify/types.ts";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { bodyOf, type Person, refusalOf } from "../../identity/identity-server.ts";
import {
  auditOf,
  type OrganizationServer,
  organizationServer,
} from "../organizations/organization-server.ts";
import { readZip } from "./read-zip.ts";

const ARCHIVE = "/api/v1/export/account.zip";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function exportingServer(options: { stallMs?: number } = {}): OrganizationServer {
  return organizationServer(stores, { moreRoutes: (parts) => exportRoutes({ ...parts, ...options }) });
}

const ask = (server: OrganizationServer, { cookie }: Person): Promise<Response> =>
  server.send("GET", ARCHIVE, { headers: { cookie } });

/** The files of a ZIP by a reader of our own; where Info-ZIP is installed, it has to find the archive sound too. */
async function unzipped(bytes: Buffer): Promise<Map<string, string>> {
  const unzip = Bun.which("unzip");
  if (unzip !== null) {
    using directory = temporaryDirectory();
    const path = join(directory.path, "account.zip");
    await Bun.write(path, bytes);
    expect(Bun.spawnSync([unzip, "-tq", path]).stdout.toString()).toContain("No errors detected");
  }
  return readZip(bytes);
}

async function archiveOf(server: OrganizationServer, person: Person): Promise<Map<string, string>> {
  const response = await ask(server, person);
  expect(response.status).toBe(200);
  return unzipped(Buffer.from(await response.arrayBuffer()));
}

function rowsOf(archive: Map<string, string>, name: string): Record<string, unknown>[] {
  return JSON.parse(archive.get(`${name}.json`) ?? "null");
}

/** Transactions that exports have open. */
const openSnapshots = async (): Promise<number> => {
  const rows = await stores.postgres`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
      AND backend_type = 'client backend'`;
  return rows.length;
};

const noneIsOpen = (): Promise<boolean> =>
  eventually("every transaction has ended", async () => (await openSnapshots()) === 0);

/** Fills the organisation with so many saved searches. */
async function saveSearches({ account }: Person, count: number): Promise<void> {
  await stores.postgres`
    INSERT INTO saved_searches (organization_id, name, query, created_at, updated_at)
    SELECT ${account.organization.id}, 'search ' || n, repeat('x', 2000), now(), now()
    FROM generate_series(1, ${count}::int) n`;
}

describe("the archive of an account", () => {
  test("holds everything of the organisation in files that another program reads, and nothing of others", async () => {
    const server = exportingServer();
    const owner = await server.register({ organizationName: "Lighthouse" });
    const person = await server.recruit(owner.cookie, "member");
    const stranger = await server.register({ organizationName: "Elsewhere" });
    for (const { cookie } of [owner, person, stranger]) await server.mint(cookie, { scopes: ["logs:read"] });
    await server.invite(owner.cookie, "next@example.com", "viewer");
    await server.invite(stranger.cookie, "foreign@example.com", "viewer");
    await saveSearches(owner, 2);
    await saveSearches(stranger, 3);

    const archive = await archiveOf(server, owner);
    expect([...archive.keys()]).toEqual([...EXPORTERS.map(({ name }) => `${name}.json`), "manifest.json"]);
    expect(rowsOf(archive, "organization")).toEqual([owner.account.organization]);
    expect(rowsOf(archive, "members")).toEqual(await server.membersOf(owner.cookie));
    expect(rowsOf(archive, "invites")).toMatchObject([{ email: "next@example.com", role: "viewer" }]);
    expect(rowsOf(archive, "tokens")).toMatchObject([
      { id: expect.any(Number), userId: owner.account.user.id, scopes: ["logs:read"], revokedAt: null },
      { id: expect.any(Number), userId: person.account.user.id, scopes: ["logs:read"], revokedAt: null },
    ]);
    expect(rowsOf(archive, "saved-searches")).toHaveLength(2);
    const audit = await auditOf(stores, owner.account.organization.id);
    expect(rowsOf(archive, "audit-log")).toMatchObject(
      audit.filter(({ action }) => action !== "EXPORT_ACCOUNT").map(({ action, meta }) => ({ action, meta })),
    );
    const all = [...archive.values()].join();
    for (const foreign of [stranger.email, "Elsewhere", "foreign@example.com"])
      expect(all).not.toContain(foreign);
    const manifest = JSON.parse(archive.get("manifest.json") ?? "null");
    expect(manifest).toMatchObject({ organizationId: owner.account.organization.id });
    for (const { file, rows } of manifest.files)
      expect(rowsOf(archive, file.replace(".json", ""))).toHaveLength(rows);
    expect(audit.at(-1)).toMatchObject({
      action: "EXPORT_ACCOUNT",
      resource: `organization:${owner.account.organization.id}`,
      actor: owner.email,
    });
  });

  test("never holds a secret or a hash", async () => {
    const server = exportingServer();
    const owner = await server.register();
    const { token } = await server.mint(owner.cookie);
    const invite = await server.invite(owner.cookie, "next@example.com", "viewer");
    const path = "/api/v1/me/webhook-secret";
    const { secret } = await bodyOf(await server.as(owner.cookie, "GET", path), WebhookSecret);
    const session = owner.cookie.replace("session=", "");
    const sealed = Buffer.alloc(40, 0xa7);
    await stores.postgres`
      INSERT INTO sso_connections (organization_id, slug, issuer, client_id, client_secret, groups_claim, group_roles,
                                   default_role, enforced, created_at, updated_at)
      VALUES (${owner.account.organization.id}, 'lighthouse', 'https://idp.example', 'client', ${sealed}, 'groups',
              '{}', 'viewer', false, now(), now())`;
    const archive = await archiveOf(server, owner);
    expect(rowsOf(archive, "sso-connections")).toMatchObject([{ slug: "lighthouse", clientId: "client" }]);
    const all = [...archive.values()].join();
    for (const plain of [token, invite.token, session])
      for (const text of [plain, hashToken(plain).toString("hex"), hashToken(plain).toString("base64")])
        expect(all).not.toContain(text);
    for (const bytes of [sealed, Buffer.from(secret.slice("whsec_".length), "base64")])
      for (const encoding of ["hex", "base64"] as const) expect(all).not.toContain(bytes.toString(encoding));
    expect(all).not.toContain("cheap:");
    expect(all).not.toMatch(/"(?:\w*[hH]ash|\w*[sS]ecret)"/);
  });

  test("leaves no table and no column out but those that it is told to", async () => {
    const columns = await stores.postgres<{ table: string; name: string }[]>`
      SELECT c.table_name AS table, c.column_name AS name
      FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'`;
    const owned = columns.filter(({ name }) => name === "organization_id").map(({ table }) => table);
    const known = [...EXPORTERS.map(({ table }) => table), ...LEFT_OUT.map(({ table }) => table)];
    expect(known.toSorted()).toEqual([...owned, "organizations"].toSorted());
    for (const { table, columns: shown, hidden } of EXPORTERS)
      expect({ table, columns: [...shown, ...hidden].toSorted() }).toEqual({
        table,
        columns: columns
          .filter((column) => column.table === table && column.name !== "organization_id")
          .map(({ name }) => name)
          .toSorted(),
      });
  });

  test("is of one moment, whatever changes while it is taken", async () => {
    const server = exportingServer();
    const owner = await server.register();
    await saveSearches(owner, 3 * EXPORT_FETCH_ROWS);
    const response = await ask(server, owner);
    const pieces: Uint8Array[] = [];
    let changed = false;
    for await (const piece of response.body ?? []) {
      pieces.push(piece);
      if (changed) continue;
      changed = true;
      await stores.postgres`
        UPDATE saved_searches SET name = 'later' WHERE organization_id = ${owner.account.organization.id}`;
      await server.invite(owner.cookie, "later@example.com", "viewer");
    }
    const archive = await unzipped(Buffer.concat(pieces));
    expect(rowsOf(archive, "invites")).toEqual([]);
    const searches = rowsOf(archive, "saved-searches");
    expect(searches).toHaveLength(3 * EXPORT_FETCH_ROWS);
    expect(searches.some(({ name }) => name === "later")).toBe(false);
    await noneIsOpen();
  });

  test.each(["viewer", "member", "admin", "owner"] as const)("is asked for as %s", async (role) => {
    const server = exportingServer();
    const owner = await server.register();
    const person = await server.recruit(owner.cookie, role);
    const response = await ask(server, person);
    await response.body?.cancel();
    expect(response.status).toBe(role === "admin" || role === "owner" ? 200 : 403);
    const { token } = await server.mint(person.cookie, { scopes: ["logs:read"] });
    expect(await refusalOf(await server.send("GET", ARCHIVE, { as: token }))).toBe(
      "403 PAT_SCOPE_INSUFFICIENT",
    );
    await noneIsOpen();
  });
});

describe("an archive that is not taken to its end", () => {
  test("ends its transaction when the client goes away, and makes room for the next", async () => {
    const server = exportingServer();
    const owner = await server.register();
    await saveSearches(owner, 20 * EXPORT_FETCH_ROWS);
    const listener = listen(server.app, { hostname: "127.0.0.1", port: 0 });
    try {
      for (let time = 0; time < 2 * EXPORTS_MAX_RUNNING; time += 1) {
        const socket = connect(listener.port, "127.0.0.1");
        const began = once(socket, "data");
        socket.write(`GET ${ARCHIVE} HTTP/1.1\r\nhost: localhost\r\ncookie: ${owner.cookie}\r\n\r\n`);
        const [head] = await began;
        socket.pause();
        expect(String(head)).toStartWith("HTTP/1.1 200 OK");
        expect(await openSnapshots()).toBe(1);
        socket.destroy();
        await noneIsOpen();
      }
    } finally {
      await listener.abort();
    }
  });

  test("is cut when the client takes nothing for long", async () => {
    const server = exportingServer({ stallMs: 100 });
    const owner = await server.register();
    await saveSearches(owner, EXPORT_FETCH_ROWS);
    const response = await ask(server, owner);
    const reader = response.body?.getReader();
    // On a busy machine this is already late.
    await reader?.read().catch(() => undefined);
    await noneIsOpen();
    const rest = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toThrow();
  });

  test("is the only one of its organisation and one of few of all", async () => {
    const server = exportingServer();
    const people = await Promise.all(
      Array.from({ length: EXPORTS_MAX_RUNNING + 1 }, () => server.register()),
    );
    const [first, ...others] = people;
    const last = others.pop();
    if (first === undefined || last === undefined) throw new Error("the bound leaves no exports");
    const open = [await ask(server, first)];
    expect(await refusalOf(await ask(server, first))).toBe("503 UNAVAILABLE");
    for (const person of others) open.push(await ask(server, person));
    const refused = await ask(server, last);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await refusalOf(refused)).toBe("503 UNAVAILABLE");
    for (const response of open) await response.body?.cancel();
    for (const person of [first, last])
      expect((await archiveOf(server, person)).size).toBe(EXPORTERS.length + 1);
    await noneIsOpen();
  });

  test("breaks off when Postgres ends the transaction", async () => {
    const server = exportingServer();
    const owner = await server.register();
    await saveSearches(owner, 20 * EXPORT_FETCH_ROWS);
    const response = await ask(server, owner);
    const reader = response.body?.getReader();
    await reader?.read();
    await stores.postgres`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
    const rest = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toThrow();
    await noneIsOpen();
    expect((await archiveOf(server, owner)).size).toBeGreaterThan(1);
  });

  test("is closed at once for HEAD", async () => {
    const server = exportingServer();
    const owner = await server.register();
    const response = await server.send("HEAD", ARCHIVE, { headers: { cookie: owner.cookie } });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
    await noneIsOpen();
  });
});
