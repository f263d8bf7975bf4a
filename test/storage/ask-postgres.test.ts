import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { patient, setPatience } from "../../src/concurrency/patience.ts";
import { ApiError, DependencyError } from "../../src/errors.ts";
import { askPostgres } from "../../src/storage/ask-postgres.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { TEST_TIMEOUT_FACTOR } from "../harness/patience.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores({ migrations: null });
});
afterAll(() => stores.close());

const thrownBy = (work: () => Promise<unknown>, timeoutMs?: number): Promise<unknown> =>
  askPostgres(work, timeoutMs).then(
    () => undefined,
    (error: unknown) => error,
  );

/** What a statement run with this address throws. */
async function thrownAt(url: string): Promise<unknown> {
  const sql = createPostgres(url, { maxConnections: 1 });
  try {
    return await thrownBy(() => sql`SELECT 1`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("answers and what the caller's own code throws pass through", async () => {
  expect(await askPostgres(async () => (await stores.postgres`SELECT 7 AS n`)[0]?.n)).toBe(7);
  const refusal = new ApiError("CONFLICT", "no");
  expect(await thrownBy(() => stores.postgres.begin(() => Promise.reject(refusal)))).toBe(refusal);
});

test("a wrong statement is a bug, not an outage", async () => {
  for (const statement of ["SELEC 1", "SELECT nothing", "SELECT 1 / 0", "SELECT * FROM nowhere"]) {
    expect(await thrownBy(() => stores.postgres.unsafe(statement))).not.toBeInstanceOf(DependencyError);
  }
});

describe("a retryable outage is reported when", () => {
  const outage = { dependency: "postgres", retryable: true };

  test("nobody listens", async () => {
    expect(await thrownAt("postgres://obs@127.0.0.1:1/obs")).toMatchObject(outage);
  });

  test("the host has no address", async () => {
    expect(await thrownAt("postgres://obs@host.invalid:5432/obs")).toMatchObject(outage);
  });

  test("the password is refused, or the database is not there", async () => {
    const url = new URL(stores.postgresUrl);
    url.password = "wrong";
    expect(await thrownAt(url.href)).toMatchObject(outage);
    const elsewhere = new URL(stores.postgresUrl);
    elsewhere.pathname = "/no_such_database";
    expect(await thrownAt(elsewhere.href)).toMatchObject(outage);
  });

  test("the server ends the connection in the middle of a statement", async () => {
    const sql = createPostgres(stores.postgresUrl, { maxConnections: 1 });
    try {
      const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      const sleeping = thrownBy(() => sql`SELECT pg_sleep(30)`);
      await stores.postgres`SELECT pg_terminate_backend(${row?.pid ?? 0})`;
      expect(await sleeping).toMatchObject(outage);
    } finally {
      await sql.end({ timeout: 1 });
    }
  });

  test("the pool is closed", async () => {
    const sql = createPostgres(stores.postgresUrl, { maxConnections: 1 });
    await sql.end();
    expect(await thrownBy(() => sql`SELECT 1`)).toMatchObject(outage);
  });

  test("two transactions wait for each other", async () => {
    const deadlocked = { code: "40P01" };
    const raise = () => stores.postgres.unsafe("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$");
    expect(await thrownBy(raise)).toMatchObject({ ...outage, cause: deadlocked });
  });

  test("the answer does not come in time", async () => {
    const sql = createPostgres(stores.postgresUrl, { maxConnections: 1 });
    try {
      expect(await thrownBy(() => sql`SELECT pg_sleep(30)`, 20)).toMatchObject(outage);
    } finally {
      await sql.end({ timeout: 0 });
    }
  });
});

describe("where the machine is said to be slow", () => {
  afterEach(() => setPatience(TEST_TIMEOUT_FACTOR));

  test("an answer may come later, and so may a connection", async () => {
    const late = () => Bun.sleep(100).then(() => 7);
    setPatience(1);
    expect(await thrownBy(late, 10)).toBeInstanceOf(DependencyError);
    expect(connectSeconds()).toBe(5);
    setPatience(10_000);
    expect(await askPostgres(late, 10)).toBe(7);
    expect(connectSeconds()).toBe(50_000);
  });

  test("tests say so of the machine they run on", () => {
    expect(patient(5_000)).toBe(5_000 * TEST_TIMEOUT_FACTOR);
  });
});

/** How long a pool that is made now waits for a connection. */
const connectSeconds = (): number => createPostgres(stores.postgresUrl).options.connect_timeout;
