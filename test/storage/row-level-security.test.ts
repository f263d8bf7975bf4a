import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inOrganization } from "../../src/storage/organization-transaction.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

/** Tables that belong to no organisation; the role of row-level security must not see them at all. */
const OF_NO_ORGANIZATION = new Set([
  "schema_migrations",
  "server_instances",
  "believed_clock",
  "signing_keys",
  "secret_key",
  "users",
  "organizations",
  // How far entries are counted, and the number of the latest change of what is: nothing of anybody.
  "ingest_streams",
  "counter_revisions",
]);

let stores: TestStores;
let own: number;
let foreign: number;

beforeAll(async () => {
  stores = await openTestStores();
  own = await makeOrganization("own");
  foreign = await makeOrganization("foreign");
});
afterAll(() => stores.close());

async function makeOrganization(name: string): Promise<number> {
  const [row] = await stores.postgres<{ id: number }[]>`
    WITH person AS (
      INSERT INTO users (email, password_hash, created_at) VALUES (${`${name}@example.com`}, 'hash', now()) RETURNING id
    ), organization AS (
      INSERT INTO organizations (name, created_at) VALUES (${name}, now()) RETURNING id
    ), member AS (
      INSERT INTO memberships (organization_id, user_id, role, created_at)
      SELECT organization.id, person.id, 'owner', now() FROM organization, person
    ), search AS (
      INSERT INTO saved_searches (organization_id, name, created_at, updated_at)
      SELECT id, ${name}, now(), now() FROM organization
    ), entry AS (
      INSERT INTO audit_log (organization_id, seq, created_at, actor_email, action, resource, meta, hash)
      SELECT id, 1, now(), 'a', 'A', 'r', '{}', sha256('') FROM organization
    )
    SELECT id FROM organization`;
  return row?.id ?? 0;
}

interface TableRow {
  name: string;
  has_organization: boolean;
  is_restricted: boolean;
  policies: number;
}

function tables(): Promise<TableRow[]> {
  return stores.postgres<TableRow[]>`
    SELECT c.relname AS name, c.relrowsecurity AS is_restricted,
           EXISTS (
             SELECT 1 FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attname = 'organization_id' AND NOT a.attisdropped
           ) AS has_organization,
           (SELECT count(*)::integer FROM pg_policy p WHERE p.polrelid = c.oid) AS policies
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY c.relname`;
}

describe("row-level security", () => {
  test("covers every table that has an organization, and every other table is known to have none", async () => {
    const found = await tables();
    const open = found.filter(
      (table) => table.has_organization && (!table.is_restricted || table.policies === 0),
    );
    expect(open.map(({ name }) => name)).toEqual([]);
    const unknown = found.filter((table) => !table.has_organization && !OF_NO_ORGANIZATION.has(table.name));
    const visible: string[] = [];
    for (const { name } of unknown) if (await isVisible(name)) visible.push(name);
    expect(visible).toEqual([]);
    expect(found.filter((table) => table.has_organization).length).toBeGreaterThan(5);
  });

  test("a statement without a filter finds rows of its organization only, in every table", async () => {
    const sql = stores.postgres;
    for (const { name, has_organization } of await tables()) {
      if (!has_organization || !(await isVisible(name))) continue;
      const others = await inOrganization(
        sql,
        own,
        (tx) => tx`
        SELECT 1 FROM ${tx(name)} WHERE organization_id IS DISTINCT FROM ${own}`,
      );
      expect([name, others.length]).toEqual([name, 0]);
    }
    const searches = await inOrganization(
      sql,
      own,
      (tx) => tx<{ name: string }[]>`SELECT name FROM saved_searches`,
    );
    expect(searches.map(({ name }) => name)).toEqual(["own"]);
    const people = await inOrganization(sql, own, (tx) => tx<{ email: string }[]>`SELECT email FROM users`);
    expect(people.map(({ email }) => email)).toEqual(["own@example.com"]);
    const organizations = await inOrganization(
      sql,
      own,
      (tx) => tx<{ id: number }[]>`SELECT id FROM organizations`,
    );
    expect(organizations.map(({ id }) => id)).toEqual([own]);
  });

  test("a statement without a filter changes rows of its organization only", async () => {
    const sql = stores.postgres;
    const changed = await inOrganization(
      sql,
      own,
      (tx) => tx`UPDATE saved_searches SET description = 'changed'`,
    );
    expect(changed.count).toBe(1);
    const moved = inOrganization(
      sql,
      own,
      (tx) => tx`UPDATE saved_searches SET organization_id = ${foreign}`,
    );
    await expect(moved).rejects.toThrow("row-level security");
    const planted = inOrganization(
      sql,
      own,
      (tx) => tx`
      INSERT INTO saved_searches (organization_id, name, created_at, updated_at) VALUES (${foreign}, 'x', now(), now())`,
    );
    await expect(planted).rejects.toThrow("row-level security");
    const [untouched] = await sql<{ description: string | null }[]>`
      SELECT description FROM saved_searches WHERE organization_id = ${foreign}`;
    expect(untouched?.description).toBeNull();
  });

  test("the audit log is added to and read, and neither changed nor emptied", async () => {
    const sql = stores.postgres;
    for (const statement of [
      "UPDATE audit_log SET action = 'B'",
      "DELETE FROM audit_log",
      "TRUNCATE audit_log",
    ]) {
      await expect(inOrganization(sql, own, (tx) => tx.unsafe(statement))).rejects.toThrow(
        "permission denied",
      );
    }
  });

  test("hashes of passwords and the keys of the server are out of reach", async () => {
    const sql = stores.postgres;
    for (const statement of [
      "SELECT password_hash FROM users",
      "SELECT * FROM users",
      "UPDATE users SET email = 'x'",
      "SELECT * FROM signing_keys",
      "SELECT * FROM secret_key",
      "SELECT * FROM schema_migrations",
    ]) {
      await expect(inOrganization(sql, own, (tx) => tx.unsafe(statement))).rejects.toThrow(
        "permission denied",
      );
    }
  });

  test("ends with its transaction: the next one on the connection starts without an organization", async () => {
    const single = stores.postgres;
    await inOrganization(single, own, (tx) => tx`SELECT 1`);
    const rows = await Promise.all(
      Array.from(
        { length: 20 },
        () => single<{ role: string; organization: string | null }[]>`
        SELECT current_user AS role, current_setting('obs.organization_id', true) AS organization`,
      ),
    );
    for (const [row] of rows) {
      expect(row?.role).toBe("obs");
      expect(row?.organization ?? "").toBe("");
    }
  });

  test("finds nothing where the organization was forgotten altogether", async () => {
    const found = await stores.postgres.begin(async (tx) => {
      await tx`SELECT set_config('role', 'obs_organization', true)`;
      return tx`SELECT 1 FROM saved_searches`;
    });
    expect(found).toHaveLength(0);
  });
});

/** Whether the role may read the table at all. */
async function isVisible(name: string): Promise<boolean> {
  const [row] = await stores.postgres<{ is_visible: boolean }[]>`
    SELECT has_table_privilege('obs_organization', ${name}, 'SELECT') AS is_visible`;
  return row?.is_visible === true;
}
