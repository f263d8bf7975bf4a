import { expect, test } from "bun:test";
import fc from "fast-check";
import { CommittedBlock } from "../../ingest/committed-block.ts";
import { copyRows } from "../../ingest/copy-rows.ts";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { nativeEntry } from "./log-entry-arbitrary.ts";

const FIRST_ID = 2n ** 63n + 7n;
const format = new NativeFormat();

/** Everything that a block says of an entry. */
function entryOf(block: CommittedBlock, row: number) {
  return {
    organizationId: block.organizationId(row),
    id: block.id(row),
    ts: block.ts(row),
    receivedAt: block.receivedAt(row),
    level: block.level(row),
    service: block.service.texts[block.service.indexes[row] ?? 0],
    source: block.source.texts[block.source.indexes[row] ?? 0],
    host: block.host.texts[block.host.indexes[row] ?? 0],
    message: block.messageText(row),
    traceId: block.traceId(row),
    spanId: block.spanId(row),
    eventId: block.eventId(row),
    attributes: block.attributes(row),
  };
}

const entriesOf = (block: CommittedBlock) =>
  Array.from({ length: block.rows }, (_, row) => entryOf(block, row));

test("any run of rows of any block is copied as it is", () => {
  const requests = fc.array(fc.array(nativeEntry, { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(requests, fc.nat(), fc.nat(), (each, left, right) => {
      const batch = new LogBatch();
      each.forEach((entries, index) => {
        const named = entries.map((entry, i) => ({ ...entry, ...(i % 2 === 0 && { event_id: `e${i}` }) }));
        batch.beginRequest(index + 1, 1_790_000_000_000 + index);
        format.decode(new TextEncoder().encode(JSON.stringify(named)), batch, new Set());
        named.forEach((_, i) => {
          batch.traceId.append(`trace ${i}`);
          batch.spanId.append(`span ${i}`);
        });
        batch.keepRequest();
      });
      const out = new ByteBuffer();
      batch.writeTo(out, FIRST_ID, LOG_ID_STEP);
      const block = new CommittedBlock(out.view());
      const [a, b] = [left % block.rows, right % block.rows];
      const [from, to] = [Math.min(a, b), Math.max(a, b) + 1];
      const copy = new CommittedBlock(copyRows(block, from, to));
      expect(entriesOf(copy)).toEqual(entriesOf(block).slice(from, to));
    }),
    { numRuns: 200 },
  );
});
