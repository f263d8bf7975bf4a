import { type IncomingMessage, request as requestOver } from "node:http";
import type { CertificateFacts } from "./certificate.ts";
import { type Connector, unreachable } from "./connector.ts";
import { OUTBOUND_HEADERS_MAX_BYTES } from "./limits.ts";
import { OutboundError } from "./outbound-error.ts";
import type { OutboundScope } from "./outbound-scope.ts";

export interface OutboundMessage {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** What came back, packed as it was sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** At most as much as was asked for. */
  readonly body: Uint8Array;
  readonly isCutOff: boolean;
}

interface ExchangeOptions {
  /** Of the body; what lies beyond is not read. */
  readonly maxBytes: number;
  readonly scope: OutboundScope;
  /** Whether to send although the certificate does not show that it is the host. */
  readonly skipsVerification?: boolean;
  /** Told while the exchange goes on, so that one which fails has its times, too. */
  readonly progress?: ExchangeProgress;
}

export interface ExchangeProgress {
  connected(dnsMs: number, connectMs: number): void;
  secured(tlsMs: number, certificate: CertificateFacts): void;
  answered(firstByteMs: number): void;
}

/**
 * Sends one message to a URL over a connection of its own and reads the answer, by HTTP/1.1. With https the certificate must be that of
 * the host. `node:http` is used because it speaks over the connection that it is given, whereas `fetch` resolves the
 * name once more. Throws OutboundError.
 */
export async function exchange(
  connector: Connector,
  url: URL,
  message: OutboundMessage,
  { maxBytes, scope, skipsVerification = false, progress }: ExchangeOptions,
): Promise<Answer> {
  const isSecure = url.protocol === "https:";
  if ((!isSecure && url.protocol !== "http:") || url.username !== "" || url.password !== "")
    throw new OutboundError("blocked");
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const plain = await connector.dial(url.hostname, port, scope);
  progress?.connected(plain.dnsMs, plain.connectMs);
  let { socket } = plain;
  if (isSecure) {
    const secured = await connector.secure(socket, url.hostname, scope, ["http/1.1"]);
    progress?.secured(secured.tlsMs, secured.certificate);
    const { problem } = secured.certificate;
    if (problem !== null && !skipsVerification) throw new OutboundError("unreachable", { reason: problem });
    socket = secured.socket;
  }
  const sentAt = performance.now();
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(unreachable(error));
    const breakOff = (): void => reject(new OutboundError("unreachable", { reason: "reset" }));
    const request = requestOver(
      {
        method: message.method,
        path: `${url.pathname}${url.search}`,
        headers: headersOf(message, url),
        maxHeaderSize: OUTBOUND_HEADERS_MAX_BYTES,
        createConnection: () => socket,
      },
      (answer) => {
        progress?.answered(performance.now() - sentAt);
        readAnswer(answer, maxBytes).then(resolve, fail);
      },
    );
    request.on("error", fail);
    // An answer that nobody asked for.
    request.on("upgrade", () => reject(new OutboundError("unreachable", { reason: "bad-response" })));
    socket.once("close", breakOff);
    request.end(message.body);
  });
}

function headersOf(message: OutboundMessage, url: URL): Record<string, string> {
  const headers: Record<string, string> = {
    host: url.host,
    "accept-encoding": "identity",
    connection: "close",
  };
  for (const [name, value] of Object.entries(message.headers)) headers[name.toLowerCase()] = value;
  return headers;
}

/** Async so that an answer that cannot be taken over is thrown to whoever waits, and not into the event. */
async function readAnswer(message: IncomingMessage, maxBytes: number): Promise<Answer> {
  const status = message.statusCode ?? 0;
  // What stands outside is no answer to a request.
  if (status < 200 || status > 599) throw new OutboundError("unreachable", { reason: "bad-response" });
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    for (const line of [value ?? []].flat()) headers.append(name, line);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const finish = (isCutOff: boolean): void => {
      const body = Buffer.concat(chunks);
      resolve({ status, headers, body: isCutOff ? body.subarray(0, maxBytes) : body, isCutOff });
    };
    message.on("data", (chunk: Uint8Array) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      finish(true);
      message.destroy();
    });
    message.once("end", () => finish(false));
    message.on("error", reject);
    message.once("close", () => reject(new OutboundError("unreachable", { reason: "reset" })));
  });
}
