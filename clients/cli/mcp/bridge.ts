import type { Fetch } from "../../api/client.ts";
import { CallError, refusal } from "../../api/errors.ts";
import { isRecord, type JsonRecord, parseJsonExactly } from "../../api/json.ts";
import { unreachable } from "../../api/unreachable.ts";
import { wordFailure } from "../failures.ts";
import { MCP_MESSAGE_MAX_CHARS, MCP_REQUESTS_MAX } from "../limits.ts";
import { linesOf } from "./lines.ts";
import { messageHeaders } from "./message-headers.ts";

interface BridgeOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** Whether operations that change something are offered. */
  readonly mayWrite: boolean;
  readonly fetch: Fetch;
  /** Messages of the client, a line each. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes to the client; nothing but messages. */
  readonly write: (text: string) => Promise<void>;
}

type Id = string | number;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
/** Of the range that is left to implementations: no answer of the server's own came. */
const NO_ANSWER = -32000;

/**
 * Passes messages of the Model Context Protocol between a client that speaks over standard input and output and the server,
 * of either era of the protocol, for it only looks at what the transport needs. Resolves when the input has ended and
 * everything is answered. What fails is told to the client as the answer to its message.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #underWay = new Map<Id, AbortController>();
  readonly #pending = new Set<Promise<void>>();
  #agreedVersion: string | null = null;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    for await (const line of linesOf(this.#options.input, MCP_MESSAGE_MAX_CHARS)) {
      // What waits stays with the client, in the pipe.
      while (this.#pending.size >= MCP_REQUESTS_MAX) await Promise.race(this.#pending);
      const message = line === null ? undefined : parseJsonExactly(line);
      const done = this.#take(message).finally(() => this.#pending.delete(done));
      this.#pending.add(done);
      // What comes after it says the revision that it agrees on.
      if (isRecord(message) && message.method === "initialize") await done;
    }
    await Promise.all(this.#pending);
  }

  async #take(message: unknown): Promise<void> {
    if (message === undefined) return this.#fail(null, PARSE_ERROR, "the line is no JSON, or too long");
    if (!isRecord(message)) return this.#fail(null, INVALID_REQUEST, "a line holds one message");
    if (message.method === "notifications/cancelled") return this.#cancel(message);
    const id = idOf(message);
    const controller = new AbortController();
    if (id !== null) this.#underWay.set(id, controller);
    try {
      const answer = await this.#send(message, controller.signal);
      if (answer !== null) await this.#write(answer);
    } catch (error) {
      if (controller.signal.aborted) return;
      if (!(error instanceof CallError)) throw error;
      if (id !== null) await this.#fail(id, NO_ANSWER, wordFailure(error));
    } finally {
      if (id !== null) this.#underWay.delete(id);
    }
  }

  /** The server keeps nothing of a request but the request itself: it ends with the connection. */
  #cancel({ params }: JsonRecord): void {
    const { requestId } = isRecord(params) ? params : {};
    if (typeof requestId === "string" || typeof requestId === "number")
      this.#underWay.get(requestId)?.abort();
  }

  /** The answer of the server; null where a message gets none. Throws CallError. */
  async #send(message: JsonRecord, signal: AbortSignal): Promise<JsonRecord | null> {
    const { baseUrl, token, mayWrite, fetch } = this.#options;
    let status: number;
    let headers: Headers;
    let text: string;
    try {
      const response = await fetch(`${baseUrl}/mcp${mayWrite ? "?write=1" : ""}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...messageHeaders(message, this.#agreedVersion),
        },
        body: JSON.stringify(message),
        redirect: "manual",
        signal,
      });
      ({ status, headers } = response);
      text = await response.text();
    } catch (error) {
      throw unreachable(baseUrl, error);
    }
    const answer = parseJsonExactly(text);
    if (isRecord(answer) && answer.jsonrpc === "2.0") {
      this.#noteVersion(message, answer);
      // An answer to a message that could not be read names none.
      return answer.id === null || answer.id === undefined ? { ...answer, id: idOf(message) } : answer;
    }
    if (status === 202) return null;
    throw refusal({ status, headers, text }, baseUrl);
  }

  #noteVersion({ method }: JsonRecord, { result }: JsonRecord): void {
    if (!isRecord(result)) return;
    const { protocolVersion } = result;
    if (method === "initialize" && typeof protocolVersion === "string") this.#agreedVersion = protocolVersion;
  }

  #fail(id: Id | null, code: number, message: string): Promise<void> {
    return this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #write(message: JsonRecord): Promise<void> {
    return this.#options.write(`${JSON.stringify(message)}\n`);
  }
}

function idOf({ id }: JsonRecord): Id | null {
  return typeof id === "string" || typeof id === "number" ? id : null;
}
