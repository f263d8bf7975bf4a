/** A server that is started while Postgres is stopped: what it does meanwhile, and that it comes up by itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { createLogger } from "../../src/log.ts";
import { currentPlatform, locatePostgresFiles } from "../../src/storage/embedded/platform.ts";
import { postgresEngine } from "../../src/storage/embedded/postgres-engine.ts";
import { loadSecrets } from "../../src/storage/embedded/secrets.ts";
import { startEmbeddedPostgres } from "../../src/storage/embedded/start-engine.ts";
import { Supervisor } from "../../src/storage/embedded/supervisor.ts";
import { eventually } from "../harness/eventually.ts";
import {
  isReady,
  makeToken,
  type ServerProcess,
  spawnServer,
  startServer,
} from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const PASSWORD = "open sesame";
const log = createLogger("silent");

let stores: TestStores;
let directory: TemporaryDirectory;
let postgresDirectory: TemporaryDirectory;
let running: { readonly supervisor: Supervisor; readonly url: string };

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  postgresDirectory = temporaryDirectory();
  running = await startEmbeddedPostgres(postgresDirectory.path, loadSecrets(postgresDirectory.path), log);
});
afterAll(async () => {
  await running.supervisor.stop();
  await stores.close();
  postgresDirectory[Symbol.dispose]();
  directory[Symbol.dispose]();
});

/** The same Postgres again, where it was. */
async function startPostgresAgain(): Promise<void> {
  const secrets = loadSecrets(postgresDirectory.path);
  const supervisor = new Supervisor(
    postgresEngine({
      dataDirectory: postgresDirectory.path,
      native: locatePostgresFiles(currentPlatform()),
      port: Number(new URL(running.url).port),
      instance: secrets.instance,
      password: secrets.postgresPassword,
      superuserPassword: secrets.postgresSuperuserPassword,
    }),
    log,
  );
  running = { ...running, supervisor };
  await supervisor.start();
}

const options = () => ({
  dataDirectory: directory.path,
  env: { DATABASE_URL: running.url, CLICKHOUSE_URL: stores.clickhouseUrl },
});

/** Two pages, one of them locked and on a host of its own, of which the server has kept copies. */
async function publish({ url }: ServerProcess): Promise<string> {
  const token = await makeToken(url);
  const send = (method: string, path: string, json: object) =>
    fetch(`${url}/api/v1/status-pages${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(json),
    });
  expect((await send("POST", "", { name: "Open Inc", slug: "open" })).status).toBe(201);
  const locked = await send("POST", "", { name: "Locked Inc", slug: "locked" });
  const { id } = Value.Parse(Type.Object({ id: Type.Integer() }), await locked.json());
  expect((await send("PUT", `/${id}/password`, { password: PASSWORD })).status).toBe(204);
  return token;
}

async function answer(url: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, { redirect: "manual", ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const unlock = (url: string, password: string) =>
  answer(url, "/status/locked/unlock", { method: "POST", body: new URLSearchParams({ password }) });

test("shows its copies, says what is missing, refuses the rest for later, and comes up wholly without a refused connection", async () => {
  const first = await startServer(options());
  const token = await publish(first);
  // A stop waits for nothing of the kind, so the copies have to be there.
  const { port } = first;
  const opened = await unlock(first.url, PASSWORD);
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect(opened.status).toBe(303);
  await eventually("both pages are kept", async () => {
    const kept = [...new Bun.Glob("status-pages/*.sealed").scanSync(directory.path)];
    return kept.length === 2;
  });
  await first.stop();
  await running.supervisor.stop();

  const second = await spawnServer({ ...options(), port });
  await eventually("it answers", () =>
    fetch(`${second.url}/health/live`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  const ready = await answer(second.url, "/health/ready");
  expect(ready.status).toBe(503);
  const { dependencies } = JSON.parse(ready.text);
  expect(dependencies).toContainEqual({ name: "postgres", state: "down", detail: "Does not answer." });
  expect((await answer(second.url, "/health/ingest")).status).toBe(503);

  const page = await answer(second.url, "/status/open");
  expect([page.status, page.text.includes("Live data cannot be reached")]).toEqual([200, true]);
  expect(JSON.parse((await answer(second.url, "/api/v1/status-pages/public/open")).text)).toMatchObject({
    isStale: true,
  });
  expect((await answer(second.url, "/status/locked")).status).toBe(401);
  expect((await answer(second.url, "/status/locked", { headers: { cookie } })).text).toContain("Locked Inc");
  expect((await unlock(second.url, "not the word")).status).toBe(401);
  expect((await unlock(second.url, PASSWORD)).status).toBe(303);
  expect((await answer(second.url, "/status/nobody")).status).toBe(503);

  const entry = () =>
    answer(second.url, "/api/v1/logs/ingest", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ message: "kept by its sender" }),
    });
  const refused = await entry();
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
  expect(JSON.parse(refused.text)).toMatchObject({ code: "UNAVAILABLE" });

  let isOver = false;
  const statuses = new Set<number | string>();
  const readers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const { status } = await answer(second.url, "/status/open", { keepalive: false }).catch(
        (error: Error) => ({ status: error.message }),
      );
      statuses.add(status);
    }
  });
  await startPostgresAgain();
  await eventually("it is ready", () => isReady(second.url));
  expect((await entry()).status).toBe(202);
  await eventually("the page is live", async () => {
    const { text } = await answer(second.url, "/status/open");
    return !text.includes("Live data");
  });
  isOver = true;
  await Promise.all(readers);
  expect([...statuses]).toEqual([200]);
  expect((await answer(second.url, "/status/locked", { headers: { cookie } })).status).toBe(200);
  expect(await second.stop()).toBe(0);
});

test("a server that waits for Postgres ends with 0 when it is told to", async () => {
  using other = temporaryDirectory();
  const env = { ...options().env, DATABASE_URL: "postgres://obs:none@127.0.0.1:1/obs" };
  const server = await spawnServer({ dataDirectory: other.path, env });
  await eventually("it answers", () =>
    fetch(`${server.url}/health/live`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  await eventually("it has said what it waits for", () => server.output().includes("DATABASE_URL"));
  expect(await server.stop()).toBe(0);
});
