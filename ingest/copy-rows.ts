import type { CommittedBlock } from "./committed-block.ts";
import { indexedText } from "./entry-columns.ts";
import { LogBatch } from "./log-batch.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";

/** The rows `from`..`to`, exclusive, at least one, as a block of their own. Their ids follow one another, as in any block. */
export function copyRows(block: CommittedBlock, from: number, to: number): Uint8Array {
  const batch = new LogBatch();
  for (let row = from; row < to; row++) copyRow(block, row, batch);
  const out = new ByteBuffer(64 * 1024);
  batch.writeTo(out, block.id(from), LOG_ID_STEP);
  return out.view();
}

function copyRow(block: CommittedBlock, row: number, batch: LogBatch): void {
  batch.beginRequest(block.organizationId(row), Number(block.receivedAt(row)));
  const ts = block.ts(row);
  batch.ts.append(Number(BigInt.asUintN(32, ts)), Number(ts >> 32n));
  batch.level.append(block.levelNumber(row));
  batch.service.append(indexedText(block.service, row));
  batch.source.append(indexedText(block.source, row));
  batch.host.append(indexedText(block.host, row));
  batch.message.append(block.messageText(row));
  batch.traceId.append(block.traceId(row));
  batch.spanId.append(block.spanId(row));
  batch.eventId.append(block.eventId(row));
  const [keys, texts, jsonKeys] = block.attributes(row);
  for (const key of keys) batch.attrs.keys.append(key);
  for (const text of texts) batch.attrs.values.append(text);
  for (const key of jsonKeys) batch.attrJsonKeys.elements.append(key);
  batch.endRow();
  batch.keepRequest();
}
