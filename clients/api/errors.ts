import { askedWaitMs, isRetryableCode, isRetryableStatus } from "./backoff.ts";
import { isRecord, type JsonRecord, parseJsonOrUndefined } from "./json.ts";
import { ERROR_TEXT_MAX_CHARS, FIELDS_SHOWN_MAX } from "./limits.ts";

/** A call that failed, in one line. Anything else that is thrown is a fault of the program. */
export class CallError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "CallError";
  }
}

/** The server could not be asked or did not answer. `retryable` is false where trying again cannot help. */
export class UnreachableError extends CallError {
  readonly retryable: boolean;

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "UnreachableError";
    this.retryable = options.retryable;
  }
}

/** One problem that the server found in the request. */
export interface FieldProblem {
  /** JSON pointer into the body, or `/name` of a query parameter. */
  path: string;
  message: string;
  /** Where in the text of a query, and what to write instead; undefined for another problem. */
  place: QueryPlace | undefined;
}

/** A place in the text of a query; lines and columns count from 1, characters are UTF-16 units. */
export interface QueryPlace {
  line: number;
  column: number;
  /** The text that is wrong; empty where something is missing. */
  text: string;
  suggestion: string | undefined;
}

interface Refusal {
  /** Undefined when the refusal came in the middle of a stream. */
  readonly status: number | undefined;
  readonly code?: string;
  readonly fields: readonly FieldProblem[];
  /** How long the server asks to wait before the next attempt; 0 when it does not say. */
  readonly waitMs?: number;
}

/** The server refused: the message is its own words, with the first of its `fields`, the code and the status. */
export class ApiError extends CallError {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly fields: readonly FieldProblem[];
  readonly waitMs: number;

  constructor(message: string, { status, code, fields, waitMs = 0 }: Refusal) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.waitMs = waitMs;
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return (this.status !== undefined && isRetryableStatus(this.status)) || isRetryableCode(this.code);
  }
}

/** An answer that has been read. */
export interface TextAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Makes the error of an answer that is not the wanted one, from the error envelope where the body holds one. */
export function refusal({ status, headers, text }: TextAnswer, baseUrl: string): ApiError {
  const waitMs = askedWaitMs(status, headers, Date.now());
  const envelope = parseJsonOrUndefined(text);
  if (isRecord(envelope) && typeof envelope.error === "string")
    return envelopeError(envelope, envelope.error, { status, waitMs });
  const where = status >= 300 && status < 400 ? ` (it points to ${headers.get("location")})` : "";
  const message = `${baseUrl} answered ${status}${where}: is this the address of an obs server?`;
  return new ApiError(cut(message), { status, waitMs, fields: [] });
}

/** The same for what comes as an event, when the status has been sent: `error` or `message`, or else `unnamed`, and `code`. */
export function refusalInStream(data: string, unnamed: string): ApiError {
  const event = parseJsonOrUndefined(data);
  const envelope = isRecord(event) ? event : {};
  const text = [envelope.error, envelope.message].find((member) => typeof member === "string");
  return envelopeError(envelope, text ?? unnamed, { status: undefined });
}

function envelopeError(
  envelope: JsonRecord,
  error: string,
  { status, waitMs = 0 }: Pick<Refusal, "status" | "waitMs">,
): ApiError {
  const code = typeof envelope.code === "string" ? envelope.code : undefined;
  const fields = fieldProblems(envelope.fields);
  const listed = fields.slice(0, FIELDS_SHOWN_MAX).map(({ path, message }) => `${path || "/"} ${message}`);
  if (fields.length > FIELDS_SHOWN_MAX) listed.push(`and ${fields.length - FIELDS_SHOWN_MAX} more`);
  const details = listed.length > 0 ? `: ${listed.join("; ")}` : "";
  const origin = [code, status].filter((part) => part !== undefined);
  const named = origin.length > 0 ? ` (${cut(origin.join(", "))})` : "";
  return new ApiError(`${cut(`${error}${details}`)}${named}`, {
    status,
    waitMs,
    fields,
    ...(code !== undefined && { code }),
  });
}

function fieldProblems(fields: unknown): FieldProblem[] {
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((field: unknown) => {
    if (!isRecord(field)) return [];
    const { path, message } = field;
    if (typeof path !== "string" || typeof message !== "string") return [];
    return [{ path, message, place: queryPlace(field) }];
  });
}

function queryPlace({ line, column, text, suggestion }: JsonRecord): QueryPlace | undefined {
  if (typeof line !== "number" || typeof column !== "number") return undefined;
  return {
    line,
    column,
    text: typeof text === "string" ? text : "",
    suggestion: typeof suggestion === "string" ? suggestion : undefined,
  };
}

function cut(text: string): string {
  return text.length > ERROR_TEXT_MAX_CHARS ? `${text.slice(0, ERROR_TEXT_MAX_CHARS)}...` : text;
}
