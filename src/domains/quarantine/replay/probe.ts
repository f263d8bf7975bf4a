import { IngestRejectedError, LogBatch, type RecordDecoder } from "../../../../ingest/index.ts";
import type { Logger } from "../../../log.ts";
import type { ClaimedRecord } from "./claim-store.ts";
import { ReplayWriter } from "./replay-writer.ts";

/** What would become of a record: so many entries, or the reason why it stays. */
type Verdict = { readonly entries: number } | { readonly reason: string };

const NOTHING: ReadonlySet<number> = new Set();

/** Finds out what becomes of records, without storing anything. */
export class ReplayProbe {
  readonly batch = new LogBatch();
  readonly #organizationId: number;
  readonly #log: Logger;
  readonly #writer = new ReplayWriter();

  constructor(organizationId: number, log: Logger) {
    this.#organizationId = organizationId;
    this.#log = log;
  }

  /** A record of which only a part could be read stays whole. `keep` leaves its entries in the batch. */
  judge(record: ClaimedRecord, decoder: RecordDecoder | null, keep = false): Verdict {
    if (decoder === null) return { reason: nothingReads(record) };
    const { batch } = this;
    batch.beginRequest(this.#organizationId, record.receivedAtMs);
    const verdict = this.#decode(record, decoder);
    if (keep && "entries" in verdict) batch.keepRequest();
    else batch.rewindRequest();
    return verdict;
  }

  #decode(record: ClaimedRecord, decoder: RecordDecoder): Verdict {
    const writer = this.#writer;
    writer.openRecord(this.batch, NOTHING, record);
    try {
      decoder.decode(record.raw, writer);
    } catch (error) {
      if (error instanceof IngestRejectedError) return { reason: error.message };
      // A record that no decoder was ready for stays, and must not keep the others from being replayed.
      this.#log.error({ err: error, record: record.id, format: decoder.format }, "a decoder failed");
      return { reason: "the server failed to read it" };
    }
    const [rejection] = writer.rejections;
    if (rejection !== undefined) return { reason: rejection.reason };
    return writer.accepted > 0
      ? { entries: writer.accepted }
      : { reason: "holds nothing to make an entry of" };
  }
}

function nothingReads({ format, sourceKey }: ClaimedRecord): string {
  return sourceKey === null
    ? `no receiver reads records of the format ${format} by themselves`
    : `there is no source ${sourceKey} any more`;
}
