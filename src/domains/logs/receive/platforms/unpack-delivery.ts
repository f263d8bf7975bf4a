import { setImmediate as nextTurn } from "node:timers/promises";
import type { DeliveryEnvelope, UnpackedRecord } from "../../../../../ingest/index.ts";
import { ApiError } from "../../../../errors.ts";
import { unpack } from "../../../../http/unpack.ts";
import { DELIVERY_UNPACKED_MAX_BYTES, PORTION_BYTES, RECORD_UNPACKED_MAX_BYTES } from "./limits.ts";

/** Some consecutive records of a delivery, unpacked. */
export interface DeliveryPortion {
  readonly records: readonly UnpackedRecord[];
  /** Their data, one behind the other. */
  readonly body: Uint8Array;
}

/**
 * Unpacks the records of a delivery, which may each be a gzip stream, and divides them into portions: the same delivery
 * always into the same. A record that cannot be unpacked stays as it came, with the reason. `reserve` is told of every
 * byte that is held. Throws VALIDATION_FAILED when all of them together are too large, and what `reserve` throws.
 */
export async function unpackDelivery(
  envelope: DeliveryEnvelope,
  reserve: (bytes: number) => void,
): Promise<DeliveryPortion[]> {
  const portions: DeliveryPortion[] = [];
  let records: UnpackedRecord[] = [];
  let parts: Uint8Array[] = [];
  let portionBytes = 0;
  let work = 0;
  const close = (): void => {
    if (records.length > 0) portions.push({ records, body: Buffer.concat(parts, portionBytes) });
    records = [];
    parts = [];
    portionBytes = 0;
  };
  for (const { place, data, text } of envelope.records) {
    const unpacked = data === null ? notBase64(text) : await unpackRecord(data);
    work += unpacked.work;
    if (work > DELIVERY_UNPACKED_MAX_BYTES) throw tooLarge();
    reserve(unpacked.bytes.length);
    if (portionBytes + unpacked.bytes.length > PORTION_BYTES) {
      close();
      // Other requests are served between portions.
      await nextTurn();
    }
    parts.push(unpacked.bytes);
    portionBytes += unpacked.bytes.length;
    records.push({ place, end: portionBytes, problem: unpacked.problem });
  }
  close();
  return portions;
}

interface Unpacked {
  readonly bytes: Uint8Array;
  readonly problem: string | null;
  /** Bytes that were made, whether they are kept or not. */
  readonly work: number;
}

export function isGzip(data: Uint8Array): boolean {
  return data[0] === 0x1f && data[1] === 0x8b;
}

async function unpackRecord(data: Uint8Array): Promise<Unpacked> {
  if (!isGzip(data)) return { bytes: data, problem: null, work: data.length };
  try {
    const bytes = await unpack(data, "gzip", RECORD_UNPACKED_MAX_BYTES);
    return { bytes, problem: null, work: bytes.length };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isTooLarge = error.code === "PAYLOAD_TOO_LARGE";
    return {
      bytes: data,
      problem: isTooLarge
        ? `unpacks to more than ${RECORD_UNPACKED_MAX_BYTES} bytes`
        : "is not one whole gzip stream",
      work: isTooLarge ? RECORD_UNPACKED_MAX_BYTES : data.length,
    };
  }
}

function notBase64(text: string): Unpacked {
  const bytes = Buffer.from(text);
  return { bytes, problem: "its data is not base64", work: bytes.length };
}

function tooLarge(): ApiError {
  return new ApiError(
    "VALIDATION_FAILED",
    `The records of a delivery must not unpack to more than ${DELIVERY_UNPACKED_MAX_BYTES} bytes; make the buffer of the stream smaller.`,
    { fields: [{ path: "/records", code: "too_big", message: "unpack to too many bytes" }] },
  );
}
