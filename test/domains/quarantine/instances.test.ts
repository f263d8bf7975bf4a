/** Real instances: replays under kill -9, on one instance and on two, and the way of a record from its source to its entry. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";

const RECORDS = 5_000;
const KILLS = 2;
const REPLAY = "/api/v1/ingest/quarantine/replay";

let stores: TestStores;
let directories: TemporaryDirectory[];
let servers: [ServerProcess, ServerProcess];
let token: string;

const start = (directory: TemporaryDirectory | undefined, port?: number): Promise<ServerProcess> =>
  startServer({
    dataDirectory: directory?.path ?? "",
    ...(port !== undefined && { port }),
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
  });

beforeAll(async () => {
  stores = await openTestStores();
  directories = [temporaryDirectory(), temporaryDirectory()];
  servers = await Promise.all([start(directories[0]), start(directories[1])]);
  token = await makeToken(servers[0].url);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  for (const directory of directories) directory[Symbol.dispose]();
  await stores.close();
});

/** Asks a server to replay; 0 when it died meanwhile. */
async function replay(url: string, key?: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${url}${REPLAY}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(key !== undefined && { "idempotency-key": key }),
    },
    body: "{}",
  }).catch(() => null);
  return answer === null
    ? { status: 0, body: {} }
    : { status: answer.status, body: JSON.parse(await answer.text()) };
}

/** Records of a drain that its decoder reads, as if they had been kept while it did not. */
async function hold(): Promise<number> {
  const [organization] = await stores.postgres<{ id: number }[]>`
    SELECT max(organization_id) AS id FROM personal_access_tokens`;
  const organizationId = organization?.id ?? 0;
  await stores.postgres`
    INSERT INTO quarantine_records (organization_id, format, place, reason, raw, raw_bytes, received_at)
    SELECT ${organizationId}, 'platform-a', '/0', 'was not read', raw, length(raw), now()
    FROM generate_series(1, ${RECORDS}::integer) AS n,
         LATERAL (SELECT convert_to(json_build_object('message', 'record ' || n)::text, 'UTF8') AS raw) AS record`;
  await stores.postgres`
    UPDATE quarantine_usage SET (records, bytes) = (
      SELECT count(*), sum(raw_bytes) FROM quarantine_records
      WHERE organization_id = ${organizationId} AND state <> 'replayed'
    ) WHERE organization_id = ${organizationId}`;
  return organizationId;
}

async function count(organizationId: number, state: string): Promise<number> {
  const [row] = await stores.postgres<{ records: number }[]>`
    SELECT count(*)::integer AS records FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state = ${state}`;
  return row?.records ?? 0;
}

test("what a source could not map is kept once over retries, and is stored once its mapping is mended", async () => {
  const call = async (
    server: ServerProcess,
    method: string,
    path: string,
    json: unknown,
    key?: string,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await fetch(`${server.url}/api/v1/ingest/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
      },
      body: JSON.stringify(json),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  const mapping = (parse: string) => ({
    timestamp: { from: "when", parse },
    fields: { message: { from: "said" } },
  });
  const [first, second] = servers;
  const source = { sourceKey: "door", name: "The door", mapping: mapping("epoch_ms") };
  expect(await call(first, "POST", "sources", source)).toMatchObject({ status: 201 });
  expect(await call(first, "POST", "sources", { ...source, sourceKey: "quarantine" })).toMatchObject({
    status: 400,
  });
  const records = [
    { when: 1_770_000_000_000, said: "door opened" },
    { when: "2026-02-01T10:00:00Z", said: "door closed" },
    { when: "2026-02-01T10:00:01Z", said: "door locked" },
  ];
  const sent = await Promise.all([1, 2, 3].map(() => call(first, "POST", "door", records, "once")));
  for (const { status, body } of sent) {
    // A repetition that comes while the first one is executed is told to wait.
    if (status !== 409)
      expect({ status, body }).toMatchObject({ status: 202, body: { quarantined: 2, rejected: 0 } });
  }
  expect(await call(first, "POST", "door", records, "once")).toMatchObject({
    status: 202,
    body: { quarantined: 2 },
  });
  const filter = { sourceKey: "door" };
  const tried = await call(second, "POST", "quarantine/replay", { ...filter, dryRun: true });
  expect(tried).toMatchObject({ body: { matched: 2, wouldAccept: 0, wouldReject: 2 } });
  expect(await call(first, "PATCH", "sources/door", { mapping: mapping("iso") })).toMatchObject({
    status: 200,
  });
  await eventually("the other instance has heard of it", async () => {
    const { body } = await call(second, "POST", "quarantine/replay", { ...filter, dryRun: true });
    return body.wouldAccept === 2;
  });
  const answers = await Promise.all(
    servers.map((server) => call(server, "POST", "quarantine/replay", filter)),
  );
  expect(answers.reduce((sum, { body }) => sum + Number(body.replayed), 0)).toBe(2);
  // A retry of the sender's that comes only now brings nothing that is not there.
  await call(first, "POST", "door", records, "once");
  expect(await call(second, "POST", "quarantine/replay", filter)).toMatchObject({
    body: { matched: 0, inProgress: 0 },
  });
  const stored = async (): Promise<unknown[]> => {
    const result = await stores.clickhouse.query({
      query: "SELECT message, toString(ts) AS ts FROM logs WHERE startsWith(message, 'door ') ORDER BY ts",
      format: "JSONEachRow",
    });
    return result.json();
  };
  await eventually("the entries are in the store", async () => (await stored()).length >= 3);
  expect(await stored()).toEqual([
    { message: "door closed", ts: "2026-02-01 10:00:00.000000000" },
    { message: "door locked", ts: "2026-02-01 10:00:01.000000000" },
    { message: "door opened", ts: "2026-02-02 02:40:00.000000000" },
  ]);
});

test("a replay that is killed again and again, while another instance replays too, makes each record an entry once", async () => {
  const organizationId = await hold();
  const left = async (): Promise<number> =>
    (await count(organizationId, "held")) + (await count(organizationId, "replaying"));
  const answers: Promise<{ status: number }>[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const done = await count(organizationId, "replayed");
    const [victim, other] = servers;
    answers.push(replay(victim.url, "the one replay"), replay(victim.url));
    // The other one is not to be done before the kill.
    if (kill > 0) answers.push(replay(other.url));
    await eventually(
      "records are being replayed",
      async () => (await count(organizationId, "replayed")) > done || (await left()) === 0,
    );
    await Bun.sleep(Math.random() * 40);
    victim.kill("SIGKILL");
    await victim.exited;
    servers[0] = await start(directories[0], victim.port);
  }
  await Promise.all(answers);
  await eventually("every record is replayed", async () => {
    await Promise.all(
      servers.map((server, index) => replay(server.url, index === 0 ? "the one replay" : undefined)),
    );
    return (await left()) === 0;
  });
  const [usage] = await stores.postgres<{ records: string; bytes: string }[]>`
      SELECT records, bytes FROM quarantine_usage WHERE organization_id = ${organizationId}`;
  expect(usage).toEqual({ records: "0", bytes: "0" });
  const stored = async (): Promise<{ entries: string; messages: string }> => {
    const result = await stores.clickhouse.query({
      query:
        "SELECT count() AS entries, uniqExact(message) AS messages FROM logs WHERE startsWith(message, 'record ')",
      format: "JSONEachRow",
    });
    const [row] = await result.json<{ entries: string; messages: string }>();
    return row ?? { entries: "", messages: "" };
  };
  await eventually("all entries are in the store", async () => Number((await stored()).entries) >= RECORDS);
  // What is durable and not yet there would come with the stop.
  await Promise.all(servers.map((server) => server.stop()));
  expect(await stored()).toEqual({ entries: String(RECORDS), messages: String(RECORDS) });
});
