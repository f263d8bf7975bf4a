/** Whose a stream is to seal, and what of it is written once, whoever comes late. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  beginSeal,
  endSeal,
  endStream,
  type OpenStream,
  sealedEverywhere,
  takeStreams,
} from "../../../src/rules/streams/stream-store.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const SEALED = 1_000_000n;
const own = { holder: crypto.randomUUID(), place: "here" };
const other = { holder: crypto.randomUUID(), place: "there" };
const third = { holder: crypto.randomUUID(), place: "elsewhere" };

let stores: TestStores;
let sql: TestStores["postgres"];
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
});
afterAll(() => stores.close());
beforeEach(async () => {
  await sql`DELETE FROM ingest_streams`;
});

/** A stream of a server, which has the lease of it. */
async function open({ holder, place }: typeof own, throughAgoSec: number | null = null): Promise<void> {
  await sql`
    INSERT INTO ingest_streams (instance, holder, place, first_id, sealed_id, sealer, lease_until, through)
    VALUES (7, ${holder}, ${place}, 1, ${String(SEALED)}, ${holder}, now() + interval '1 hour',
            now() - ${throughAgoSec ?? 0} * interval '1 second')`;
}

async function taken(by: typeof own): Promise<OpenStream> {
  const [stream] = await takeStreams(sql, by, 10);
  if (stream === undefined) throw new Error("nothing was taken");
  return stream;
}

test("a stream is its sealer's alone while its lease lasts, then another's, and its own server's again once it is back", async () => {
  await open(own);
  expect(await takeStreams(sql, other, 10)).toEqual([]);
  await sql`UPDATE ingest_streams SET lease_until = now() - interval '1 second'`;
  expect(await takeStreams(sql, other, 10)).toMatchObject([{ isOwn: false }]);
  expect(await takeStreams(sql, third, 10)).toEqual([]);
  expect(await takeStreams(sql, own, 10)).toMatchObject([{ isOwn: true }]);
  expect(await takeStreams(sql, other, 10)).toEqual([]);
});

test("a seal is begun once, from where the stream is sealed, and by nobody who has lost it", async () => {
  await open(own);
  const stream = await taken(own);
  expect(await beginSeal(sql, stream, SEALED + 5n, other)).toBeNull();
  expect(await beginSeal(sql, { ...stream, sealedId: SEALED - 1n }, SEALED + 5n, own)).toBeNull();
  const intent = await beginSeal(sql, stream, SEALED + 5n, own);
  expect(intent).toMatchObject({ to: SEALED + 5n });
  // Who began another one in the same moment would give what is counted another end.
  expect(await beginSeal(sql, stream, SEALED + 9n, own)).toBeNull();
  expect((await taken(own)).intent).toEqual(intent);
});

test("what follows of a seal is noted with its end, and not once more by a second one who ends it", async () => {
  await open(own);
  const stream = await taken(own);
  const intent = await beginSeal(sql, stream, SEALED + 5n, own);
  if (intent === null) throw new Error("no seal was begun");
  let noted = 0;
  const note = async (): Promise<void> => {
    noted += 1;
  };
  for (let i = 0; i < 2; i++) await endSeal(sql, stream, intent, { throughMs: Date.now(), notes: [note] });
  expect(noted).toBe(1);
  expect(await taken(own)).toMatchObject({ sealedId: SEALED + 5n, intent: null });
});

test("a stream does not end while a seal of it is under way, or when it was sealed further meanwhile", async () => {
  await open(own);
  const stream = await taken(own);
  const intent = await beginSeal(sql, stream, SEALED + 5n, own);
  if (intent === null) throw new Error("no seal was begun");
  await endStream(sql, stream);
  expect(await takeStreams(sql, own, 10)).toHaveLength(1);
  await endSeal(sql, stream, intent, { throughMs: Date.now(), notes: [] });
  await endStream(sql, stream);
  expect(await takeStreams(sql, own, 10)).toHaveLength(1);
  await endStream(sql, await taken(own));
  expect(await takeStreams(sql, own, 10)).toEqual([]);
});

test("time has passed for all when it has for the last living server, and one long silent holds up nobody", async () => {
  await open(own, 5);
  await open(other, 60);
  const behindMs = async (): Promise<number> => Date.now() - ((await sealedEverywhere(sql)) ?? 0);
  expect(await behindMs()).toBeGreaterThan(55_000);
  await sql`UPDATE ingest_streams SET through = now() - interval '20 minutes' WHERE holder = ${other.holder}`;
  expect(await behindMs()).toBeLessThan(595_000);
  await sql`UPDATE ingest_streams SET through = through - interval '2 hours'`;
  expect(await sealedEverywhere(sql)).toBeNull();
});
