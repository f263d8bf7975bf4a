import { type IncomingMessage, request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIPv6, type LookupFunction } from "node:net";
import { OUTBOUND_HEADERS_MAX_BYTES } from "./limits.ts";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundTarget } from "./outbound-target.ts";

export interface OutboundMessage {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Answers that have no body, which `Response` insists on. */
const BODILESS = new Set([204, 205, 304]);

/**
 * Sends one message to the addresses of a target, over a connection of its own, and reads the answer. With https the
 * certificate must be that of the host. `node:http` is used because it connects to what `lookup` answers, whereas
 * `fetch` resolves the name once more. Throws OutboundError.
 */
export function sendTo(
  target: OutboundTarget,
  message: OutboundMessage,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Response> {
  const { url, host } = target;
  const send = url.protocol === "https:" ? requestSecurely : requestPlainly;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void =>
      reject(error instanceof OutboundError ? error : new OutboundError("unreachable", { cause: error }));
    const request = send(
      {
        method: message.method,
        hostname: host,
        port: url.port === "" ? undefined : Number(url.port),
        path: `${url.pathname}${url.search}`,
        headers: { "accept-encoding": "identity", ...message.headers, host: url.host },
        lookup: judgedAddresses(target),
        maxHeaderSize: OUTBOUND_HEADERS_MAX_BYTES,
        agent: false,
        signal,
      },
      (answer) => {
        readAnswer(answer, maxBytes).then(resolve, (error: unknown) => {
          request.destroy();
          fail(error);
        });
      },
    );
    request.on("error", fail);
    request.end(message.body);
  });
}

/** Stands in for resolving the name again; a URL with an address instead of a name never asks. */
function judgedAddresses({ addresses }: OutboundTarget): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, answer) => {
    const [first] = found;
    if (options.all === true) answer(null, found);
    else answer(null, first?.address ?? "", first?.family ?? 4);
  };
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    if (!(chunk instanceof Uint8Array)) throw new Error("an answer is read as bytes");
    bytes += chunk.length;
    if (bytes > maxBytes) throw new OutboundError("too-large");
    chunks.push(chunk);
  }
  const status = answer.statusCode ?? 0;
  // What stands outside is no answer to a request, such as an upgrade nobody asked for.
  if (status < 200 || status > 599) throw new Error(`the status is ${status}`);
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const line of [value ?? []].flat()) headers.append(name, line);
  return new Response(BODILESS.has(status) ? null : Buffer.concat(chunks), { status, headers });
}
