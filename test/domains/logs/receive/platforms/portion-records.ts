import { placeOfRecord } from "../../../../../ingest/index.ts";
import type { DeliveryPortion } from "../../../../../src/domains/logs/receive/platforms/delivery-portions.ts";

/** The records of a portion, as its decoder sees them. */
export function recordsOf({ records, body }: DeliveryPortion) {
  const { ends, problems, reasons } = records;
  return [...ends].map((end, i) => ({
    place: placeOfRecord(records, i),
    end,
    data: Buffer.from(body.subarray(ends[i - 1] ?? 0, end)),
    problem: reasons[(problems[i] ?? 0) - 1] ?? null,
  }));
}
