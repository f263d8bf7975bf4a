import type { Fetch } from "../context.ts";
import { REQUEST_TIMEOUT_MS } from "../limits.ts";
import { refusal, UnreachableError } from "./failures.ts";
import { unreachable } from "./unreachable.ts";

export interface ApiRequest {
  method: "GET" | "POST" | "DELETE";
  /** Below the base address, with a leading slash. */
  path: string;
  query?: URLSearchParams;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Ends the request from outside, beside the time limit. */
  signal?: AbortSignal;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** An answer whose body is read as it comes. */
export interface OpenAnswer {
  status: number;
  headers: Headers;
  body: ReadableStream<Uint8Array>;
  /** Ends the connection, whatever is still to come. */
  close(): void;
}

export interface ApiClientOptions {
  baseUrl: string;
  /** Sent as a bearer token. */
  token?: string;
  fetch: Fetch;
  /** Whole request, in milliseconds; of one that is opened, until its body begins. */
  timeoutMs?: number;
}

/** Speaks to one server. Redirects are not followed: they would carry the token to an address nobody named. */
export class ApiClient {
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;

  constructor({ baseUrl, token, fetch, timeoutMs = REQUEST_TIMEOUT_MS }: ApiClientOptions) {
    this.baseUrl = baseUrl;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#fetch = fetch;
    this.#timeoutMs = timeoutMs;
  }

  /** The answer, whatever its status. Throws UnreachableError when there is none. */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await this.#request(request, timeout);
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw this.#failure(error, timeout);
    }
  }

  /** The head of the answer, whatever its status. Throws UnreachableError when there is none. */
  async open(request: ApiRequest): Promise<OpenAnswer> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#timeoutMs);
    const closed = new AbortController();
    const signal = AbortSignal.any([timeout.signal, closed.signal]);
    try {
      const { status, headers, body } = await this.#request(request, signal);
      return { status, headers, body: body ?? new Blob().stream(), close: () => closed.abort() };
    } catch (error) {
      throw this.#failure(error, timeout.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  #request(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    const query = request.query === undefined || request.query.size === 0 ? "" : `?${request.query}`;
    return this.#fetch(`${this.baseUrl}${request.path}${query}`, {
      method: request.method,
      headers: { ...this.#headers, ...request.headers },
      body: request.body ?? null,
      redirect: "manual",
      signal: request.signal === undefined ? signal : AbortSignal.any([signal, request.signal]),
    });
  }

  #failure(error: unknown, timeout: AbortSignal): UnreachableError {
    if (!timeout.aborted) return unreachable(this.baseUrl, error);
    const message = `no answer from ${this.baseUrl} within ${this.#timeoutMs / 1000} s`;
    return new UnreachableError(message, { retryable: true, cause: error });
  }

  /** The answer when it has one of the `wanted` statuses; throws RefusedError with the server's words otherwise. */
  async expect(wanted: readonly number[], request: ApiRequest): Promise<ApiAnswer> {
    const answer = await this.send(request);
    if (!wanted.includes(answer.status)) throw refusal(answer, this.baseUrl);
    return answer;
  }
}

/** Headers and body of a JSON request. */
export function jsonBody(value: unknown): { headers: Readonly<Record<string, string>>; body: string } {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}
