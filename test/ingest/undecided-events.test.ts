/** Events of requests that are being made durable, of which nobody knows yet whether they will be stored. */
import { afterEach, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DecodeThread } from "../../ingest/apart/decode-thread.ts";
import { EventWindow } from "../../ingest/dedupe/event-window.ts";
import { IngestUnavailableError } from "../../ingest/errors.ts";
import { LogIdGenerator } from "../../ingest/log-id.ts";
import { IngestPipeline } from "../../ingest/pipeline.ts";
import { eventually } from "../harness/eventually.ts";
import { type LargeEntry, largeRequest, smallRequest } from "./large-bodies.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const threads: DecodeThread[] = [];
afterEach(() => {
  for (const thread of threads.splice(0)) thread.close();
});

const events = (count: number): LargeEntry[] =>
  Array.from({ length: count }, (_, i) => ({ message: `m${i}`, event_id: `e${i}` }));

/** A pipeline on a log that answers each append when it is told to. */
function open() {
  const appends: PromiseWithResolvers<void>[] = [];
  const thread = new DecodeThread();
  threads.push(thread);
  let decoded = 0;
  const pipeline = new IngestPipeline({
    log: {
      bytes: 0,
      maxBytes: 2 ** 30,
      append: () => {
        const append = Promise.withResolvers<void>();
        appends.push(append);
        return append.promise;
      },
    },
    thread: {
      decode: async (job) => {
        const body = await thread.decode(job);
        decoded++;
        return body;
      },
    },
    ids: new LogIdGenerator(1, Date.now),
    events: new EventWindow({ windowMs: 600_000, maxKeys: 10_000, now: Date.now }),
    maxInFlightBytes: 2 ** 30,
    now: Date.now,
    observer: SILENT_OBSERVER,
  });
  return {
    pipeline,
    appends,
    begun: (count: number) =>
      eventually(`${count} appends have begun`, () => Promise.resolve(appends.length === count)),
    /** Whatever a large request does behind its decoding until it has to wait. */
    decoded: async () => {
      await eventually("the body is decoded", () => Promise.resolve(decoded === 1));
      for (let turn = 0; turn < 20; turn++) await nextTurn();
    },
  };
}

test("of a large request that is being made durable are not stored again by a small one", async () => {
  const { pipeline, appends, begun } = open();
  const large = pipeline.ingest(largeRequest(events(450)));
  await begun(1);
  const small = pipeline.ingest(smallRequest(events(2)));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(appends).toHaveLength(1);
  appends[0]?.resolve();
  expect(await large).toMatchObject({ accepted: 450, duplicates: 0 });
  expect(await small).toMatchObject({ accepted: 2, duplicates: 2 });
  expect(appends).toHaveLength(1);
});

test("that a large request has claimed, and waits with, are not stored by a small one meanwhile", async () => {
  const { pipeline, appends, begun, decoded } = open();
  const holder = pipeline.ingest(smallRequest(events(450).slice(-1)));
  await begun(1);
  // Claims its events up to the last one, whose fate is that of the first request.
  const large = pipeline.ingest(largeRequest(events(450)));
  await decoded();
  const small = pipeline.ingest(smallRequest(events(2)));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  appends[0]?.resolve();
  expect(await holder).toMatchObject({ accepted: 1, duplicates: 0 });
  await begun(2);
  appends[1]?.resolve();
  expect(await large).toMatchObject({ accepted: 450, duplicates: 1 });
  expect(await small).toMatchObject({ accepted: 2, duplicates: 2 });
});

test("of a small request that fails are stored by the large one that came meanwhile", async () => {
  const { pipeline, appends, begun, decoded } = open();
  const small = pipeline.ingest(smallRequest(events(2)));
  await begun(1);
  const large = pipeline.ingest(largeRequest(events(450)));
  await decoded();
  appends[0]?.reject(new Error("no space left"));
  expect(await small.catch((error: unknown) => error)).toBeInstanceOf(IngestUnavailableError);
  await begun(2);
  appends[1]?.resolve();
  expect(await large).toMatchObject({ accepted: 450, duplicates: 0 });
});
