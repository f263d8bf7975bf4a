import { afterAll, beforeAll, expect, test } from "bun:test";
import { IngestUnavailableError } from "../../../ingest/index.ts";
import {
  type ClaimOutcome,
  claimRecords,
  settleClaim,
} from "../../../src/domains/quarantine/replay/claim-store.ts";
import { DependencyError } from "../../../src/errors.ts";
import { inOrganization } from "../../../src/storage/organization-transaction.ts";
import { eventually } from "../../harness/eventually.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  batchOf,
  MendableDecoder,
  newOrganization,
  openQuarantineServer,
  states,
  storedEntries,
  usage,
} from "./quarantine-server.ts";

/** That a record becomes an entry at most once and never vanishes, whatever happens to a replay. */

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const texts = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `{"text":"entry ${String(from + index).padStart(5, "0")}"}`);

async function storedMessages(organizationId: number, count: number): Promise<string[]> {
  await eventually(
    "the entries are in the store",
    async () => (await storedEntries(stores, organizationId)).length >= count,
  );
  return (await storedEntries(stores, organizationId)).map(({ message }) => message);
}

test("a dry run says what would become of each record and changes nothing", async () => {
  const decoder = new MendableDecoder();
  const server = await openQuarantineServer({ stores, decoder, step: { maxRecords: 2, maxBytes: 2 ** 20 } });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(batchOf(organizationId, [...texts(7), "[1]", '{"text":5}']));
  expect(await server.dryRun(organizationId)).toMatchObject({
    matched: 9,
    wouldAccept: 0,
    wouldReject: 9,
    notExamined: 0,
    entries: [],
    reasons: [
      { reason: "has no message", records: 8 },
      { reason: "is no JSON object", records: 1 },
    ],
  });
  decoder.isMended = true;
  const found = await server.dryRun(organizationId);
  expect(found).toMatchObject({ matched: 9, wouldAccept: 7, wouldReject: 2, notExamined: 0 });
  expect(found.entries).toHaveLength(5);
  expect(found.entries[4]?.entry).toMatchObject({ message: "entry 00004", level: null, attrs: {} });
  expect(Object.keys(found.entries[0]?.entry ?? {})).not.toContain("id");
  expect(await states(stores, organizationId)).toEqual({ held: 9 });
  expect(await storedEntries(stores, organizationId)).toEqual([]);
  await server.close();
});

test("a replay makes an entry of what can be read now, and the rest stays with its present reason", async () => {
  const decoder = new MendableDecoder();
  let nowMs = Date.parse("2026-03-01T12:00:00.123Z");
  const server = await openQuarantineServer({ stores, decoder, now: () => nowMs });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(
    batchOf(organizationId, [
      '{"text":"a"}',
      '{"text":"b","time":"2026-02-01T00:00:00.5Z","event_id":"sent"}',
      '{"text":7}',
      '{"text":"part"}\n{"text":8}',
      '{"text":"two"}\n{"text":"three"}',
      '{"fault":true}',
    ]),
  );
  decoder.isMended = true;
  nowMs += 3_600_000;
  expect(await server.replay(organizationId)).toMatchObject({
    matched: 6,
    replayed: 3,
    stillRejected: 3,
    remaining: 0,
    inProgress: 0,
    reasons: [
      { reason: "has no message", records: 2 },
      { reason: "the server failed to read it", records: 1 },
    ],
  });
  expect(await states(stores, organizationId)).toEqual({ held: 3, replayed: 3 });
  expect(await storedMessages(organizationId, 4)).toEqual(["a", "b", "three", "two"]);
  const [a, b, three, two] = await storedEntries(stores, organizationId);
  // The time is the mapping's, else that of the receipt.
  expect(a?.ts).toBe("2026-03-01 12:00:00.123000000");
  expect(b).toMatchObject({ ts: "2026-02-01 00:00:00.500000000", attrs: { event_id: "sent" } });
  expect(b?.event_id).toStartWith("quarantine-");
  expect(three?.event_id).toBe(`${two?.event_id}-1`);
  expect(await server.replay(organizationId)).toMatchObject({ matched: 3, replayed: 0, stillRejected: 3 });
  const { told, counted } = await usage(stores, organizationId);
  expect(told).toEqual(counted);
  await server.close();
  expect(await storedEntries(stores, organizationId)).toHaveLength(4);
});

test("a replay takes only what its filter names, of its own organisation", async () => {
  const decoder = new MendableDecoder();
  const server = await openQuarantineServer({ stores, decoder });
  const [own, other] = [await newOrganization(stores), await newOrganization(stores)];
  await server.quarantine.keep(batchOf(own, texts(2), { sourceKey: "web" }));
  await server.quarantine.keep(
    batchOf(own, texts(2, 2), { sourceKey: "mail", reason: "has no 100% MESSAGE" }),
  );
  await server.quarantine.keep(batchOf(other, texts(2, 4)));
  decoder.isMended = true;
  const rows = await stores.postgres<{ id: string }[]>`
    SELECT id FROM quarantine_records WHERE organization_id IN (${own}, ${other}) ORDER BY id`;
  const ids = rows.map(({ id }) => Number(id));
  expect(await server.replay(own, { ids: ids.slice(4) })).toMatchObject({ matched: 0, replayed: 0 });
  expect(await server.replay(own, { from: new Date(Date.now() + 1_000).toISOString() })).toMatchObject({
    matched: 0,
  });
  expect(await server.replay(own, { reason: "% mess" })).toMatchObject({ matched: 2, replayed: 2 });
  expect(await server.replay(own, { sourceKey: "web", ids: ids.slice(0, 1) })).toMatchObject({ replayed: 1 });
  expect(await server.replay(own, { to: new Date().toISOString() })).toMatchObject({ replayed: 1 });
  expect(await storedMessages(own, 4)).toHaveLength(4);
  expect(await states(stores, other)).toEqual({ held: 2 });
  await server.close();
});

test("two instances that replay at once make every record an entry once", async () => {
  const decoder = new MendableDecoder();
  const step = { maxRecords: 25, maxBytes: 2 ** 20 };
  const servers = await Promise.all([1, 2].map(() => openQuarantineServer({ stores, decoder, step })));
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error("two servers");
  const organizationId = await newOrganization(stores);
  await first.quarantine.keep(batchOf(organizationId, texts(1_000)));
  decoder.isMended = true;
  const answers = await Promise.all(
    [first, second, first, second].map((server) => server.replay(organizationId)),
  );
  expect(answers.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(1_000);
  expect(answers.filter(({ replayed }) => replayed > 0).length).toBeGreaterThan(1);
  expect(await states(stores, organizationId)).toEqual({ replayed: 1_000 });
  await Promise.all(servers.map((server) => server.close()));
  const messages = await storedMessages(organizationId, 1_000);
  expect(messages).toHaveLength(1_000);
  expect(new Set(messages).size).toBe(1_000);
});

test("where the pipeline refuses a step its records are held again", async () => {
  const decoder = new MendableDecoder();
  let refusals = 1;
  const server = await openQuarantineServer({
    stores,
    decoder,
    step: { maxRecords: 10, maxBytes: 2 ** 20 },
    intercept: (ingest) => (request) => {
      if (refusals-- > 0) throw new IngestUnavailableError("in_flight", "too many");
      return ingest(request);
    },
  });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(batchOf(organizationId, texts(30)));
  decoder.isMended = true;
  await expect(server.replay(organizationId)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await eventually("held", async () => (await states(stores, organizationId)).held === 30);
  expect(await server.replay(organizationId)).toMatchObject({ replayed: 30 });
  refusals = 0;
  await server.close();
});

test("a later step that fails ends the replay, which says what it did and what remains", async () => {
  const decoder = new MendableDecoder();
  let steps = 0;
  const server = await openQuarantineServer({
    stores,
    decoder,
    step: { maxRecords: 10, maxBytes: 2 ** 20 },
    intercept: (ingest) => (request) => {
      steps += 1;
      if (steps === 2) throw new IngestUnavailableError("log_full", "full");
      return ingest(request);
    },
  });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(batchOf(organizationId, texts(30)));
  decoder.isMended = true;
  expect(await server.replay(organizationId)).toMatchObject({ matched: 30, replayed: 10, remaining: 20 });
  expect(await server.replay(organizationId)).toMatchObject({ matched: 20, replayed: 20, remaining: 0 });
  await server.close();
});

test.each([true, false])(
  "a step of which nobody knows how it ended is settled by what is stored (%p)",
  async (isStored) => {
    const decoder = new MendableDecoder();
    let isCut = true;
    const server = await openQuarantineServer({
      stores,
      decoder,
      intercept: (ingest) => async (request) => {
        if (!isCut || isStored) await ingest(request);
        if (isCut) throw new IngestUnavailableError("write_failed", "cut off");
        return { accepted: 0, duplicates: 0, replayed: false };
      },
    });
    const organizationId = await newOrganization(stores);
    await server.quarantine.keep(batchOf(organizationId, [...texts(20), "[]"]));
    decoder.isMended = true;
    expect(server.replay(organizationId)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await eventually("interrupted", async () => (await states(stores, organizationId)).replaying === 21);
    // Nobody takes them on meanwhile.
    expect(await server.replay(organizationId)).toMatchObject({ matched: 0, replayed: 0, inProgress: 21 });
    isCut = false;
    await server.recover();
    expect(await states(stores, organizationId)).toEqual(isStored ? { held: 1, replayed: 20 } : { held: 21 });
    expect(await server.replay(organizationId)).toMatchObject({
      replayed: isStored ? 0 : 20,
      stillRejected: 1,
    });
    await server.close();
    expect(await storedMessages(organizationId, 20)).toHaveLength(20);
    const { told, counted } = await usage(stores, organizationId);
    expect(told).toEqual(counted);
  },
);

test("an interrupted step is not settled before what is durable is in the store", async () => {
  const decoder = new MendableDecoder();
  const flush = Promise.withResolvers<void>();
  const server = await openQuarantineServer({
    stores,
    decoder,
    flushAfter: flush.promise,
    intercept: (ingest) => async (request) => {
      await ingest(request);
      throw new IngestUnavailableError("write_failed", "cut off");
    },
  });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(batchOf(organizationId, texts(5)));
  decoder.isMended = true;
  await expect(server.replay(organizationId)).rejects.toThrow();
  const settled = server.recover();
  expect(await Promise.race([settled.then(() => "settled"), Bun.sleep(300).then(() => "waiting")])).toBe(
    "waiting",
  );
  expect(await states(stores, organizationId)).toEqual({ replaying: 5 });
  flush.resolve();
  await settled;
  expect(await states(stores, organizationId)).toEqual({ replayed: 5 });
  await server.close();
});

test("a replay whose end Postgres did not hear of is settled when Postgres is back", async () => {
  const decoder = new MendableDecoder();
  const { hostname, port } = new URL(stores.postgresUrl);
  const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  const proxied = new URL(stores.postgresUrl);
  proxied.host = `127.0.0.1:${proxy.port}`;
  const server = await openQuarantineServer({
    stores: { ...stores, postgresUrl: proxied.href },
    decoder,
    intercept: (ingest) => async (request) => {
      const result = await ingest(request);
      proxy.cut();
      return result;
    },
  });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(batchOf(organizationId, [...texts(5), "[]"]));
  decoder.isMended = true;
  await expect(server.replay(organizationId)).rejects.toBeInstanceOf(DependencyError);
  expect(await states(stores, organizationId)).toEqual({ replaying: 6 });
  proxy.restore();
  await server.recover();
  expect(await states(stores, organizationId)).toEqual({ held: 1, replayed: 5 });
  await server.close();
  await proxy.close();
  expect(await storedMessages(organizationId, 5)).toHaveLength(5);
});

test("a step that is under way is not taken for an interrupted one", async () => {
  const decoder = new MendableDecoder();
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const server = await openQuarantineServer({
    stores,
    decoder,
    intercept: (ingest) => async (request) => {
      reached.resolve();
      await gate.promise;
      return ingest(request);
    },
  });
  const organizationId = await newOrganization(stores);
  await server.quarantine.keep(batchOf(organizationId, texts(5)));
  decoder.isMended = true;
  const replayed = server.replay(organizationId);
  await reached.promise;
  await server.recover();
  expect(await states(stores, organizationId)).toEqual({ replaying: 5 });
  gate.resolve();
  expect(await replayed).toMatchObject({ replayed: 5 });
  expect(await states(stores, organizationId)).toEqual({ replayed: 5 });
  await server.close();
});

test("the late end of a claim does nothing to records that another claim has by then", async () => {
  const organizationId = await newOrganization(stores);
  const server = await openQuarantineServer({ stores, decoder: new MendableDecoder() });
  await server.quarantine.keep(batchOf(organizationId, texts(2)));
  const range = { after: 0, upTo: Number.MAX_SAFE_INTEGER, maxRecords: 10, maxBytes: 1_000 };
  const [late, present] = [crypto.randomUUID(), crypto.randomUUID()];
  const claim = (id: string) =>
    inOrganization(stores.postgres, organizationId, (tx) =>
      claimRecords(tx, organizationId, {}, range, { id, log: "log" }),
    );
  const settle = (id: string, outcome: ClaimOutcome) =>
    inOrganization(stores.postgres, organizationId, (tx) => settleClaim(tx, organizationId, id, outcome));
  const ids = (await claim(late)).map((record) => record.id);
  const held = ids.map((id) => ({ id, reason: null }));
  expect(await settle(late, { replayed: [], held })).toBe(0);
  expect(await claim(present)).toHaveLength(2);
  expect(await settle(late, { replayed: ids, held: [] })).toBe(0);
  expect(await settle(late, { replayed: [], held })).toBe(0);
  expect(await states(stores, organizationId)).toEqual({ replaying: 2 });
  expect(await settle(present, { replayed: ids, held: [] })).toBe(2);
  expect(await settle(present, { replayed: ids, held: [] })).toBe(0);
  const { told, counted } = await usage(stores, organizationId);
  expect(told).toEqual(counted);
  await server.close();
});

test("an interrupted claim is left to the instance whose write-ahead log it appends to, until that one is back", async () => {
  const decoder = new MendableDecoder();
  using directory = temporaryDirectory();
  const lost = await openQuarantineServer({
    stores,
    decoder,
    directory: directory.path,
    intercept: (ingest) => async (request) => {
      await ingest(request);
      throw new IngestUnavailableError("write_failed", "the process died here");
    },
  });
  const other = await openQuarantineServer({ stores, decoder });
  const organizationId = await newOrganization(stores);
  await lost.quarantine.keep(batchOf(organizationId, texts(5)));
  decoder.isMended = true;
  await expect(lost.replay(organizationId)).rejects.toThrow();
  await eventually("interrupted", async () => (await states(stores, organizationId)).replaying === 5);
  await lost.close();
  await other.recover();
  expect(await other.replay(organizationId)).toMatchObject({ matched: 0, inProgress: 5 });
  expect(await states(stores, organizationId)).toEqual({ replaying: 5 });
  const back = await openQuarantineServer({ stores, decoder, directory: directory.path });
  await back.recover();
  expect(await states(stores, organizationId)).toEqual({ replayed: 5 });
  await Promise.all([back.close(), other.close()]);
  expect(await storedMessages(organizationId, 5)).toHaveLength(5);
});

test("the claims of a write-ahead log that is gone for good are settled when somebody says so, an hour later", async () => {
  const decoder = new MendableDecoder();
  let isStored = true;
  const gone = await openQuarantineServer({
    stores,
    decoder,
    intercept: (ingest) => async (request) => {
      if (isStored) await ingest(request);
      throw new IngestUnavailableError("write_failed", "the machine was lost here");
    },
  });
  const organizationId = await newOrganization(stores);
  decoder.isMended = true;
  await gone.quarantine.keep(batchOf(organizationId, texts(5), { sourceKey: "stored" }));
  await expect(gone.replay(organizationId, { sourceKey: "stored" })).rejects.toThrow();
  isStored = false;
  await gone.quarantine.keep(batchOf(organizationId, texts(5, 5), { sourceKey: "lost" }));
  await expect(gone.replay(organizationId, { sourceKey: "lost" })).rejects.toThrow();
  // The directory goes with it.
  await gone.close();
  // Whatever this instance's own clock says.
  const other = await openQuarantineServer({ stores, decoder, now: () => Date.now() + 7_200_000 });
  await other.replayer.takeOver(organizationId);
  expect(await states(stores, organizationId)).toEqual({ replaying: 10 });
  await letPass(stores.postgres, "quarantine_records", 3_700_000);
  await other.replayer.takeOver(organizationId);
  expect(await states(stores, organizationId)).toEqual({ held: 5, replayed: 5 });
  expect(await other.replay(organizationId)).toMatchObject({ replayed: 5 });
  await other.close();
  expect(await storedMessages(organizationId, 10)).toHaveLength(10);
});
