import { expect, test } from "bun:test";
import fc from "fast-check";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { stampBlock } from "../../ingest/stamp-block.ts";
import { takeBlock } from "../../ingest/take-block.ts";

function batchOf(messages: readonly string[], receivedAtMs: number): LogBatch {
  const batch = new LogBatch();
  batch.beginRequest(7, receivedAtMs);
  for (const message of messages) {
    batch.ts.append(1, 2);
    batch.message.append(message);
    batch.attrs.endRow();
    batch.endRow();
  }
  return batch;
}

test("a stamped block is the one that a batch would have written", () => {
  const firstIds = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    // The lower half of an id overflows within the block.
    fc.bigInt({ min: 2n ** 40n - 4n * BigInt(LOG_ID_STEP), max: 2n ** 40n }),
  );
  fc.assert(
    fc.property(fc.array(fc.string()), firstIds, fc.nat(2 ** 42), (messages, firstId, receivedAtMs) => {
      const expected = new ByteBuffer();
      const batch = batchOf(messages, receivedAtMs);
      batch.keepRequest();
      batch.writeTo(expected, firstId, LOG_ID_STEP);
      const block = takeBlock(batchOf(messages, 1));
      if (messages.length > 0) stampBlock(block, firstId, LOG_ID_STEP, receivedAtMs);
      expect(Buffer.compare(block, expected.view())).toBe(0);
    }),
  );
});
