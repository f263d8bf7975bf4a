import { Type } from "typebox";
import {
  DECODE_IN_PLACE_MAX_RECORDS,
  type DecodedBody,
  type Ingest,
  type IngestRequest,
  type IngestResult,
  REQUEST_MAX_RECORDS,
  type RecordDecoder,
  type RecordDecoderSpec,
  RecordWriter,
  requestKeys,
} from "../../ingest/index.ts";
import type { Principal } from "../access/principal.ts";
import { keySpaceOf } from "../http/ledger/idempotency.ts";
import type { RequestName } from "../http/ledger/request-name.ts";
import { MAX_BODY_BYTES } from "../http/limits.ts";
import { readBody } from "../http/read-body.ts";
import type { OwnErrorCode, Reply, RequestContext } from "../http/route.ts";
import { CONTENT_ENCODINGS } from "../http/unpack.ts";
import { countLogBytes, type LogByteCaps } from "../usage/count-log-bytes.ts";
import { throwForClient } from "./ingest-refusals.ts";
import type { QuarantineSink } from "./quarantine-sink.ts";
import { maskedRecords, type RawMasks } from "./raw-masks.ts";

/** Reasons listed in an answer; the quarantine has them all. */
const ERRORS_MAX_COUNT = 100;

const BODY_LIMITS = {
  maxPackedBytes: MAX_BODY_BYTES,
  maxUnpackedBytes: MAX_BODY_BYTES,
  encodings: CONTENT_ENCODINGS,
};

/** What every route that receives logs can answer with, beyond what its declaration implies. */
export const RECEIVE_ERRORS: readonly OwnErrorCode[] = ["PLAN_LIMIT_LOG_BYTES"];

interface LogReceiverDependencies {
  readonly ingest: Pick<Ingest, "ingest">;
  readonly caps: LogByteCaps;
  readonly quarantine: QuarantineSink;
  readonly rules: RawMasks;
}

/** A request of a format that others define. */
export interface ReceivedRequest {
  readonly principal: Principal;
  /** What the decoder takes; given away where `apart` is given. */
  readonly body: Uint8Array;
  /** Of a body that the decoder unpacks itself: how many it has then. */
  readonly unpackedBytes?: number;
  readonly decoder: RecordDecoder;
  /** The decoder as data, to decode a large body elsewhere; null where none is large. */
  readonly apart: RecordDecoderSpec | null;
  /** Hears what a large body holds, instead of `decoder` being asked; may throw IngestRejectedError. */
  readonly decodedApart?: (body: DecodedBody) => void;
  /** What the sender repeats when it retries the request, if anything: a repetition is answered and not stored again. */
  readonly requestName: RequestName | null;
  /** The configured source it came through. */
  readonly sourceKey: string | null;
  /** Whether rejected records are kept; not where the answer names them and the sender deals with them. */
  readonly quarantines: boolean;
}

/** `accepted`, `rejected` and `quarantined` together are the records of the request. */
export interface Received {
  /** Durable now, `duplicates` included: those that had been stored before. */
  readonly accepted: number;
  readonly duplicates: number;
  /** Neither stored nor kept. */
  readonly rejected: number;
  /** Kept in the quarantine. */
  readonly quarantined: number;
  /** The first reasons. */
  readonly errors: readonly { readonly place: string; readonly reason: string }[];
  /** The whole request repeats an earlier one. */
  readonly replayed: boolean;
}

const ReceivedCount = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

/** `Received` as it is answered. */
export const ReceivedAnswer = Type.Object(
  {
    accepted: ReceivedCount("Entries that are durable now, duplicates included.", 1),
    duplicates: ReceivedCount("How many of them had been stored before.", 0),
    rejected: ReceivedCount("Records neither stored nor kept.", 0),
    quarantined: ReceivedCount("Records kept in the quarantine.", 0),
    errors: Type.Array(Type.Object({ place: Type.String(), reason: Type.String() }), {
      description: `The first ${ERRORS_MAX_COUNT} records that could not be mapped, and why.`,
      examples: [[]],
    }),
  },
  { $id: "Received" },
);

/** Takes requests of lenient formats in: what can be read is stored, the rest is kept with its reason. */
export class LogReceiver {
  readonly #deps: LogReceiverDependencies;
  readonly #writer = new RecordWriter();

  constructor(deps: LogReceiverDependencies) {
    this.#deps = deps;
  }

  /**
   * Resolves when the records of a request are durable, each as an entry or in the quarantine. Throws ApiError;
   * nothing is stored then, except that after UNAVAILABLE of the quarantine the entries may be.
   */
  async receive(request: ReceivedRequest): Promise<Received> {
    const { principal, body, unpackedBytes = body.length, decoder, apart, requestName } = request;
    const { organizationId } = principal;
    const { ingest, caps } = this.#deps;
    const writer = this.#writer;
    const outcome = { rejected: 0, rejections: writer.rejections };
    const ingestRequest: IngestRequest = {
      organizationId,
      format: decoder.format,
      bytes: unpackedBytes,
      keys:
        requestName === null
          ? null
          : requestKeys(organizationId, keySpaceOf(principal), requestName.storedAs, body),
      isStored: requestName?.isStored === true,
      decode: (batch, skip) => {
        writer.open(batch, skip, null, apart === null ? REQUEST_MAX_RECORDS : DECODE_IN_PLACE_MAX_RECORDS);
        decoder.decode(body, writer);
        outcome.rejected = writer.rejected;
        outcome.rejections = writer.rejections;
      },
      apart:
        apart === null
          ? undefined
          : {
              spec: apart,
              body,
              decoded: (decoded) => {
                outcome.rejected = decoded.rejected;
                outcome.rejections = decoded.rejections;
                request.decodedApart?.(decoded);
              },
            },
    };
    const store = (): Promise<IngestResult> => ingest.ingest(ingestRequest).catch(throwForClient);
    const { accepted, duplicates, replayed } = await countLogBytes(caps, principal, unpackedBytes, store);
    // Before anybody keeps or shows anything of them.
    const rejections = await maskedRecords(
      this.#deps.rules,
      organizationId,
      outcome.rejections,
      apart?.kind === "source" ? apart : null,
    );
    const quarantined =
      request.quarantines && outcome.rejected > 0
        ? await this.#deps.quarantine.keep({
            organizationId,
            format: decoder.format,
            sourceKey: request.sourceKey,
            requestIdentity: requestName === null ? null : `${keySpaceOf(principal)} ${requestName.text}`,
            records: rejections,
          })
        : 0;
    return {
      accepted,
      duplicates,
      rejected: outcome.rejected - quarantined,
      quarantined,
      errors: rejections.slice(0, ERRORS_MAX_COUNT).map(({ place, reason }) => ({ place, reason })),
      replayed,
    };
  }
}

/** The unpacked body of a request that brings logs. Throws ApiError. */
export function readLogBody({
  request,
  reserveMemory,
  unpackTurn,
}: Pick<RequestContext, "request" | "reserveMemory" | "unpackTurn">): Promise<Uint8Array> {
  return readBody(request, BODY_LIMITS, reserveMemory, unpackTurn);
}

/** The answer of receivers that may choose it. */
export function receivedAnswer({ replayed, ...body }: Received): Reply {
  return { status: 202, body, headers: replayed ? { "Idempotent-Replayed": "true" } : {} };
}
