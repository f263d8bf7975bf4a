import type { LogBatch } from "./log-batch.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";

/** Ends the open request of a batch, writes its entries as a block for `appendBlock`, which gives them ids of their own, and empties it. */
export function takeBlock(batch: LogBatch): Uint8Array<ArrayBuffer> {
  batch.keepRequest();
  const out = new ByteBuffer(batch.columnBytes);
  batch.writeTo(out, 0n, LOG_ID_STEP);
  batch.clear();
  return out.view();
}
