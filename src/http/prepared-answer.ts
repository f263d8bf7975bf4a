import type { EncodedBody } from "./encoded-body.ts";
import { preparedHeaders, type ResponseHead, setHeadOf } from "./response-headers.ts";

/**
 * An answer that many get until something changes. Its headers and its body are kept as the runtime has them, so that a
 * response copies the ones and shares the other: making both anew is most of what such a response costs.
 */
export class PreparedAnswer {
  readonly #status: number;
  readonly #headers: Headers;
  readonly #body: Blob | null;

  /** `own` are the handler's headers; a body is null for an answer without one. */
  constructor(status: number, own: Readonly<Record<string, string>>, body: EncodedBody | null) {
    this.#status = status;
    this.#headers = preparedHeaders(own);
    if (body !== null) this.#headers.set("content-type", body.contentType);
    this.#body = body === null ? null : new Blob([body.bytes]);
  }

  get status(): number {
    return this.#status;
  }

  /** Of the body. */
  get bytes(): number {
    return this.#body?.size ?? 0;
  }

  /** A response of its own, for one request. */
  responseTo(head: ResponseHead, isHead: boolean): Response {
    const body = isHead ? null : this.#body;
    const response = new Response(body, { status: this.#status, headers: this.#headers });
    setHeadOf(response.headers, head);
    if (isHead) response.headers.set("content-length", String(this.bytes));
    return response;
  }
}
