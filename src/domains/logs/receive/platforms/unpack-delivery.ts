import { setImmediate as nextTurn } from "node:timers/promises";
import { type DeliveryEnvelope, REQUEST_MAX_RECORDS } from "../../../../../ingest/index.ts";
import { ApiError, type ErrorCode } from "../../../../errors.ts";
import type { RequestContext } from "../../../../http/route.ts";
import { unpack } from "../../../../http/unpack.ts";
import type { UnpackTurn } from "../../../../http/unpack-turns.ts";
import { type DeliveryPortion, DeliveryPortions } from "./delivery-portions.ts";
import {
  DEFLATE_MAX_RATIO,
  DELIVERY_UNPACKED_MAX_BYTES,
  PORTION_ATTRIBUTES_BYTES,
  PORTION_BYTES,
  RECORD_UNPACKED_MAX_BYTES,
  RECORD_WORK_BYTES,
  TURN_BYTES,
  UNPACKING_WORK_BYTES,
} from "./limits.ts";

/**
 * Unpacks the records of a delivery, which may each be a gzip stream, and divides them into portions: the same delivery
 * always into the same. A record that cannot be unpacked stays as it came, with the reason. The memory of the
 * request is told of every byte that is held; `attributesBytes` is what every entry repeats. Throws VALIDATION_FAILED when all records together
 * are too large, and what `reserveMemory` throws.
 */
export async function unpackDelivery(
  { data, positions, ends, isRaw }: DeliveryEnvelope,
  { reserveMemory, unpackTurn }: Pick<RequestContext, "reserveMemory" | "unpackTurn">,
  attributesBytes = 0,
): Promise<readonly DeliveryPortion[]> {
  const portions = new DeliveryPortions({
    maxBytes: PORTION_BYTES,
    maxEntries: Math.min(REQUEST_MAX_RECORDS, Math.ceil(PORTION_ATTRIBUTES_BYTES / (attributesBytes + 1))),
  });
  const memory = new RecordMemory(reserveMemory);
  let work = 0;
  let sinceTurn = 0;
  let start = 0;
  for (const [record, position] of positions.entries()) {
    const end = ends[record] ?? start;
    const packed = data.subarray(start, end);
    start = end;
    const isPacked = isRaw[record] === 0 && isGzip(packed);
    const unpacked = isPacked
      ? await unpackRecord(packed, memory, unpackTurn)
      : asItCame(packed, isRaw[record] === 1 ? NOT_BASE64 : null, memory);
    work += unpacked.work;
    if (work > DELIVERY_UNPACKED_MAX_BYTES) throw tooLarge();
    const adding = portions.add(position, unpacked.bytes, unpacked.problem);
    while (adding.next().done !== true) await nextTurn();
    sinceTurn += unpacked.work + (isPacked ? UNPACKING_WORK_BYTES : RECORD_WORK_BYTES);
    if (sinceTurn < TURN_BYTES) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return portions.end();
}

/** Reserves for the records of one delivery; what was unpacked in vain is free for the next of them. */
class RecordMemory {
  readonly #reserve: (bytes: number) => void;
  #free = 0;

  constructor(reserve: (bytes: number) => void) {
    this.#reserve = reserve;
  }

  reserve(bytes: number): void {
    const fromFree = Math.min(bytes, this.#free);
    this.#reserve(bytes - fromFree);
    this.#free -= fromFree;
  }

  giveBack(bytes: number): void {
    this.#free += bytes;
  }
}

const NOT_BASE64 = "its data is not base64";

/** What is wrong with a record itself; anything else is no reason to take the record for another one than it is. */
const RECORD_FAULTS: ReadonlySet<ErrorCode> = new Set(["PAYLOAD_TOO_LARGE", "VALIDATION_FAILED"]);

interface Unpacked {
  readonly bytes: Uint8Array;
  readonly problem: string | null;
  /** Bytes that were made, or at most, whether they are kept or not. */
  readonly work: number;
}

export function isGzip(data: Uint8Array): boolean {
  return data[0] === 0x1f && data[1] === 0x8b;
}

/** What is not packed, or cannot be. */
function asItCame(bytes: Uint8Array, problem: string | null, memory: RecordMemory): Unpacked {
  memory.reserve(bytes.length);
  return { bytes, problem, work: bytes.length };
}

async function unpackRecord(data: Uint8Array, memory: RecordMemory, turn: UnpackTurn): Promise<Unpacked> {
  let made = 0;
  try {
    const reserve = (count: number): void => {
      memory.reserve(count);
      made += count;
    };
    const bytes = await unpack(data, "gzip", RECORD_UNPACKED_MAX_BYTES, reserve, turn);
    return { bytes, problem: null, work: bytes.length };
  } catch (error) {
    if (!(error instanceof ApiError) || !RECORD_FAULTS.has(error.code)) throw error;
    memory.giveBack(made);
    memory.reserve(data.length);
    const isTooLarge = error.code === "PAYLOAD_TOO_LARGE";
    const atMost = isTooLarge ? RECORD_UNPACKED_MAX_BYTES : data.length * DEFLATE_MAX_RATIO;
    return {
      bytes: data,
      problem: isTooLarge
        ? `unpacks to more than ${RECORD_UNPACKED_MAX_BYTES} bytes`
        : "is not one whole gzip stream",
      // Of a short stream, which is unpacked at once, nobody knows how much came out before it failed.
      work: made > 0 ? made : Math.min(RECORD_UNPACKED_MAX_BYTES, atMost),
    };
  }
}

function tooLarge(): ApiError {
  return new ApiError(
    "VALIDATION_FAILED",
    `The records of a delivery must not unpack to more than ${DELIVERY_UNPACKED_MAX_BYTES} bytes; make the buffer of the stream smaller.`,
    { fields: [{ path: "/records", code: "too_big", message: "unpack to too many bytes" }] },
  );
}
