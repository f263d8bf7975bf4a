import {
  DeliveryDecoder,
  DeploymentDrainDecoder,
  freeBuffer,
  type Ingest,
  LogplexDecoder,
  placeOfRecord,
  readCommonAttributes,
  SyslogRecords,
} from "../../../../../ingest/index.ts";
import { ApiError } from "../../../../errors.ts";
import { ownRequestName, type RequestName } from "../../../../http/ledger/request-name.ts";
import { MAX_BODY_BYTES } from "../../../../http/limits.ts";
import { contentEncoding, readPackedBody } from "../../../../http/read-body.ts";
import type { AuthenticatedContext } from "../../../../http/route.ts";
import { CONTENT_ENCODINGS, unpack } from "../../../../http/unpack.ts";
import { throwForClient } from "../../../../receive/ingest-refusals.ts";
import type { LogReceiver, Received, ReceivedRequest } from "../../../../receive/receive-records.ts";
import { DELIVERY_ID_HEADER } from "./delivery-answer.ts";
import { type DeliveryPortion, ownBody } from "./delivery-portions.ts";
import { type Dialect, dialectOfBody, dialectOfHeaders, type Platform } from "./dialect.ts";
import type { DeploymentDrainSettings } from "./drain-settings.ts";
import { DELIVERY_MAX_BYTES } from "./limits.ts";
import { requireSignature, VERIFICATION_HEADER } from "./signature.ts";
import { isGzip, unpackDelivery } from "./unpack-delivery.ts";

interface DrainReceiverDependencies {
  readonly ingest: Pick<Ingest, "openDelivery">;
  readonly receiver: Pick<LogReceiver, "receive">;
  readonly settings: Pick<DeploymentDrainSettings, "checksOf">;
  readonly now: () => number;
}

/** What became of a request: a delivery stream hears its own request id, everybody else the counts. */
export type ReceivedDrain = { readonly deliveryId: string } | { readonly received: Received };

/** What another delivery service sends, gzipped, to find out whether its destination accepts anything. */
const DESTINATION_CHECK = '{"content":"tests"}';

/** Bodies that only ask something are below it. */
const SHORT_BYTES = 64;

const NOTHING_RECEIVED: Received = {
  accepted: 0,
  duplicates: 0,
  rejected: 0,
  quarantined: 0,
  errors: [],
  replayed: false,
};

/** Takes in what platforms send, each request as what it is, whichever of the paths it came on. */
export class DrainReceiver {
  readonly #deps: DrainReceiverDependencies;
  readonly #drain = new DeploymentDrainDecoder();
  readonly #records = new DeliveryDecoder();
  readonly #syslog: SyslogRecords;

  constructor(deps: DrainReceiverDependencies) {
    this.#deps = deps;
    this.#syslog = new SyslogRecords({ now: deps.now });
  }

  /** Resolves when everything is durable, as an entry or in the quarantine. Throws ApiError. */
  async receive(context: AuthenticatedContext, platform: Platform): Promise<ReceivedDrain> {
    const { request, principal } = context;
    const byHeaders = dialectOfHeaders(request.headers);
    const maxBytes = byHeaders === "delivery" ? DELIVERY_MAX_BYTES : MAX_BODY_BYTES;
    const packed = await readPackedBody(request, {
      maxBytes,
      reserve: context.reserveMemory,
    }).catch((error: unknown) => {
      throw byHeaders === "delivery" ? notGivenUp(error) : error;
    });
    if (byHeaders !== "delivery" && isQuestion(request.headers, packed))
      return { received: NOTHING_RECEIVED };
    if (platform === "platform-a" || byHeaders === "deployment-drain") {
      const { secret } = await this.#deps.settings.checksOf(principal.organizationId);
      if (secret !== null) requireSignature(request.headers, packed, secret);
    }
    const body = await unpackBody(context, packed, maxBytes).catch((error: unknown) => {
      throw byHeaders === "delivery" ? notGivenUp(error) : error;
    });
    const dialect = byHeaders ?? dialectOfBody(body, platform);
    if (dialect === "delivery") return this.#receiveDelivery(context, body);
    return { received: await this.#receiveBody(context, dialect, body) };
  }

  async #receiveBody(context: AuthenticatedContext, dialect: Dialect, body: Uint8Array): Promise<Received> {
    const { headers } = context.request;
    if (shortText(body) === DESTINATION_CHECK) return NOTHING_RECEIVED;
    return this.#deps.receiver.receive({
      principal: context.principal,
      body,
      ...this.#decoding(dialect, headers),
      requestName: context.requestName ?? requestName(headers.get("logplex-frame-id"), body),
      sourceKey: null,
      quarantines: true,
    });
  }

  #decoding(dialect: Dialect, headers: Headers): Pick<ReceivedRequest, "decoder" | "apart"> {
    switch (dialect) {
      case "deployment-drain":
        return { decoder: this.#drain, apart: { kind: "platform-a" } };
      case "frames": {
        const request = {
          messageCount: countOf(headers.get("logplex-msg-count")),
          drainToken: headers.get("logplex-drain-token"),
        };
        return {
          decoder: new LogplexDecoder(this.#syslog, request),
          apart: { kind: "platform-b", request },
        };
      }
      default:
        return { decoder: this.#records, apart: { kind: "stream-a", records: null, attributes: "{}" } };
    }
  }

  /**
   * Stores the portions of a delivery one after the other; a repetition finds those that are stored already. Throws when
   * records were neither stored nor kept, so that the sender keeps them.
   */
  async #receiveDelivery(context: AuthenticatedContext, body: Uint8Array): Promise<ReceivedDrain> {
    const { headers } = context.request;
    const { organizationId } = context.principal;
    const envelope = await this.#deps.ingest.openDelivery(organizationId, body).catch(throwForClient);
    const deliveryId = headers.get(DELIVERY_ID_HEADER) ?? envelope.requestId;
    const attributes = readCommonAttributes(headers.get("x-amz-firehose-common-attributes"));
    const attributesText = JSON.stringify(attributes);
    const portions = await unpackDelivery(envelope, context, attributesText.length);
    let rejected = 0;
    try {
      for (const [index, portion] of portions.entries()) {
        const portionBody = ownBody(portion);
        const received = await this.#deps.receiver
          .receive({
            principal: context.principal,
            body: portionBody,
            decoder: new DeliveryDecoder(portion.records, attributes),
            apart: { kind: "stream-a", records: portion.records, attributes: attributesText },
            requestName: requestName(deliveryId === null ? null : `${deliveryId} ${index}`, portionBody),
            sourceKey: null,
            quarantines: true,
          })
          .catch((error: unknown) => {
            throw index === 0 ? error : behindStored(error, portion);
          });
        rejected += received.rejected;
      }
    } finally {
      // Nobody has another view of it, and it may be large.
      freeBuffer(envelope.data.buffer);
    }
    if (rejected > 0) throw notKept(rejected);
    return { deliveryId: deliveryId ?? "" };
  }
}

/** The name under which a repetition is recognised: with the content, so that no other content is taken for one. */
function requestName(id: string | null, body: Uint8Array): RequestName | null {
  if (id === null || id === "") return null;
  return ownRequestName(`drain ${id} ${Bun.hash.xxHash3(body)}`);
}

async function unpackBody(
  { request, reserveMemory, unpackTurn }: AuthenticatedContext,
  packed: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const named = contentEncoding(request, CONTENT_ENCODINGS);
  // Some upload a packed file and say nothing about it; no text begins like one.
  const encoding = named ?? (isGzip(packed) ? "gzip" : undefined);
  if (encoding === undefined) return packed;
  return unpack(packed, encoding, maxBytes, reserveMemory, unpackTurn);
}

/**
 * A delivery stream destroys what was answered with 413, without a copy; after any other refusal it tries again and in
 * the end puts the records into its backup. Source: Amazon Data Firehose, "HTTP endpoint delivery request and response
 * specifications".
 */
function notGivenUp(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== "PAYLOAD_TOO_LARGE") return error;
  const message = `A delivery must not be larger than ${DELIVERY_MAX_BYTES} bytes; make the buffer of the stream smaller.`;
  return new ApiError("VALIDATION_FAILED", message, {
    fields: [{ path: "", code: "too_big", message }],
    cause: error,
  });
}

/** The refusal of a portion whose predecessors are stored, which the refusal does not know. */
function behindStored(error: unknown, { records }: DeliveryPortion): unknown {
  if (!(error instanceof ApiError) || error.code !== "VALIDATION_FAILED") return error;
  const [issue] = error.fields ?? [];
  const message = `From ${placeOfRecord(records, 0)} on the delivery is not stored: ${issue?.message ?? "it is not valid"}; what is before it is stored.`;
  return new ApiError("VALIDATION_FAILED", message, { fields: [...(error.fields ?? [])], cause: error });
}

function notKept(count: number): ApiError {
  const message = `${count} records of the delivery cannot be read, and the quarantine has no room for them; the others are stored.`;
  return new ApiError("UNAVAILABLE", message);
}

/** Whether a request brings nothing and only wants an answer, for which it need not be signed. */
function isQuestion(headers: Headers, body: Uint8Array): boolean {
  const text = shortText(body);
  return text === "" || (text === "{}" && headers.has(VERIFICATION_HEADER));
}

/** The text of a short body, trimmed; null for a longer one. */
function shortText(body: Uint8Array): string | null {
  return body.length > SHORT_BYTES ? null : Buffer.from(body).toString().trim();
}

function countOf(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;
}
