import type { CallAnswer, CallArguments, CallName, JsonCallName, SuccessStatus } from "./calls.ts";
import { CallError, refusal, type TextAnswer, UnreachableError } from "./errors.ts";
import { REQUEST_TIMEOUT_MS } from "./limits.ts";
import { OpenAnswer } from "./open-answer.ts";
import { unreachable } from "./unreachable.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface ApiClientOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as a bearer token. Without it a browser's own session counts. */
  readonly token?: string;
  readonly fetch?: Fetch;
  /** Whole request, in milliseconds; of one that is opened, until its body begins. */
  readonly timeoutMs?: number;
  /** Reads the JSON of answers, and throws or gives undefined for what is none; `parseJsonExactly` keeps every digit. */
  readonly parseJson?: (text: string) => unknown;
}

/** A successful answer. */
interface Answer<Name extends JsonCallName> {
  readonly status: SuccessStatus<Name>;
  readonly headers: Headers;
  readonly body: CallAnswer<Name>;
}

interface OpenOptions {
  /** Milliseconds without a byte after which the body is given up; the time limit of the request by default. */
  readonly silenceMs?: number;
}

/** What `CallInput` is at run time, whatever the route. */
interface AnyInput {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly expect?: number;
}

interface AnyAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const NO_CONTENT = 204;

/**
 * Speaks to one server. Calls are named by method and path and typed by the server's own routes; answers are taken at their
 * word. Redirects are not followed: they would carry the token to an address nobody named.
 */
export class ApiClient {
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #parseJson: (text: string) => unknown;

  constructor({ baseUrl, token, timeoutMs = REQUEST_TIMEOUT_MS, ...rest }: ApiClientOptions) {
    this.baseUrl = baseUrl;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#fetch = rest.fetch ?? ((url, init) => fetch(url, init));
    this.#timeoutMs = timeoutMs;
    this.#parseJson = rest.parseJson ?? JSON.parse;
  }

  /** What the server answers. Throws ApiError with its words when it refuses, UnreachableError when it does not answer. */
  async call<Name extends JsonCallName>(
    name: Name,
    ...input: CallArguments<Name>
  ): Promise<CallAnswer<Name>> {
    return (await this.send(name, ...input)).body;
  }

  /** The same with status and headers. */
  send<Name extends JsonCallName>(name: Name, ...input: CallArguments<Name>): Promise<Answer<Name>>;
  async send(name: string, input: AnyInput = {}): Promise<AnyAnswer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    let answer: TextAnswer;
    try {
      const response = await this.#request(name, input, timeout);
      answer = { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw this.#failure(error, timeout);
    }
    if (!isWanted(answer, input)) throw refusal(answer, this.baseUrl);
    const { status, headers } = answer;
    return { status, headers, body: status === NO_CONTENT ? undefined : this.#valueOf(answer) };
  }

  /** The head of an answer whose body is read as it comes. Throws like `call`. */
  open<Name extends CallName>(name: Name, ...input: CallArguments<Name, OpenOptions>): Promise<OpenAnswer>;
  async open(name: string, input: AnyInput & OpenOptions = {}): Promise<OpenAnswer> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#timeoutMs);
    const closed = new AbortController();
    let answer: OpenAnswer;
    try {
      const signal = AbortSignal.any([timeout.signal, closed.signal]);
      answer = new OpenAnswer({
        response: await this.#request(name, input, signal),
        silenceMs: input.silenceMs ?? this.#timeoutMs,
        baseUrl: this.baseUrl,
        close: () => closed.abort(),
      });
    } catch (error) {
      throw this.#failure(error, timeout.signal);
    } finally {
      clearTimeout(timer);
    }
    if (isWanted(answer, input)) return answer;
    throw refusal(await answer.read(), this.baseUrl);
  }

  #request(name: string, input: AnyInput, signal: AbortSignal): Promise<Response> {
    const [method = "", pattern = ""] = name.split(" ");
    const { headers, body } = encodeBody(input.body);
    return this.#fetch(`${this.baseUrl}${pathOf(pattern, input)}${searchOf(input)}`, {
      method,
      headers: { ...this.#headers, ...headers, ...input.headers },
      body,
      redirect: "manual",
      signal: input.signal === undefined ? signal : AbortSignal.any([signal, input.signal]),
    });
  }

  #valueOf({ status, text }: TextAnswer): unknown {
    let value: unknown;
    try {
      value = this.#parseJson(text);
    } catch {
      // Told below, like a value that no route answers with.
    }
    if (typeof value !== "object" || value === null)
      throw new CallError(`${this.baseUrl} answered ${status} with something else: is it an obs server?`);
    return value;
  }

  #failure(error: unknown, timeout: AbortSignal): UnreachableError {
    if (!timeout.aborted) return unreachable(this.baseUrl, error);
    const message = `no answer from ${this.baseUrl} within ${this.#timeoutMs / 1000} s`;
    return new UnreachableError(message, { retryable: true, cause: error });
  }
}

function isWanted({ status }: { readonly status: number }, { expect }: AnyInput): boolean {
  return expect === undefined ? status >= 200 && status < 300 : status === expect;
}

function pathOf(pattern: string, { params = {} }: AnyInput): string {
  return pattern.replace(/:([a-zA-Z][a-zA-Z0-9]*)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
}

/** The query with its `?`; a list is a parameter several times, and what is undefined is left out. */
function searchOf({ query = {} }: AnyInput): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) search.append(name, String(item));
  return search.size === 0 ? "" : `?${search}`;
}

function encodeBody(body: unknown): {
  headers: Record<string, string>;
  body: NonNullable<RequestInit["body"]> | null;
} {
  if (body === undefined) return { headers: {}, body: null };
  if (typeof body === "string" || body instanceof Uint8Array || body instanceof Blob)
    return { headers: {}, body };
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
