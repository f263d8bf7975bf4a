import { ManyRecordsError, tooBig } from "../errors.ts";
import { REQUEST_MAX_BLOCK_BYTES, REQUEST_MAX_RECORDS } from "../limits.ts";

const MAX_BLOCK_MIB = REQUEST_MAX_BLOCK_BYTES / 1024 ** 2;

/**
 * Refuses the record behind as many as `max`: with ManyRecordsError where a request may have more and is only decoded in another
 * place, else with IngestRejectedError.
 */
export function checkRecords(count: number, max: number): void {
  if (count < max) return;
  if (max < REQUEST_MAX_RECORDS) throw new ManyRecordsError();
  throw tooBig(`at most ${REQUEST_MAX_RECORDS} records in a request`);
}

/** Refuses a request whose entries have become too large. */
export function checkBlockBytes(bytes: number, max: number): void {
  if (bytes > max) throw tooBig(`the entries take more than ${MAX_BLOCK_MIB} MiB, send fewer in a request`);
}
