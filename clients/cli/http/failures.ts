import { CliError } from "../cli-error.ts";
import { ERROR_TEXT_MAX_CHARS, FIELDS_SHOWN_MAX } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import type { ApiAnswer } from "./api-client.ts";
import { isRecord, type JsonRecord, parseJsonOrUndefined } from "./json.ts";

/** The server could not be asked or did not answer. `retryable` is false where trying again cannot help. */
export class UnreachableError extends CliError {
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

/** The server refused: the message is its own words, with the first of its `fields`. */
export class RefusedError extends CliError {
  /** Undefined when the refusal came in the middle of a stream. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly fields: readonly FieldProblem[];

  constructor(
    message: string,
    details: { status: number | undefined; code?: string; fields: readonly FieldProblem[] },
  ) {
    super(message);
    this.name = "RefusedError";
    this.status = details.status;
    this.code = details.code;
    this.fields = details.fields;
  }
}

/** Makes the error of an answer that is not the wanted one, from the error envelope where the body holds one. */
export function refusal(answer: ApiAnswer, baseUrl: string): RefusedError {
  const { status, headers } = answer;
  const envelope = parseJsonOrUndefined(answer.text);
  if (!isRecord(envelope) || typeof envelope.error !== "string") {
    const where = status >= 300 && status < 400 ? ` (it points to ${headers.get("location")})` : "";
    return new RefusedError(
      shown(`${baseUrl} answered ${status}${where}: is this the address of an obs server?`),
      {
        status,
        fields: [],
      },
    );
  }
  return envelopeError(envelope, envelope.error, status);
}

/** The same for what comes as an event, when the status has been sent: `error` or `message`, or else `unnamed`, and `code`. */
export function refusalInStream(data: string, unnamed: string): RefusedError {
  const event = parseJsonOrUndefined(data);
  const envelope = isRecord(event) ? event : {};
  const text = [envelope.error, envelope.message].find((member) => typeof member === "string");
  return envelopeError(envelope, text ?? unnamed, undefined);
}

function envelopeError(envelope: JsonRecord, error: string, status: number | undefined): RefusedError {
  const { code } = envelope;
  const fields = fieldProblems(envelope.fields);
  const listed = fields.slice(0, FIELDS_SHOWN_MAX).map(({ path, message }) => `${path || "/"} ${message}`);
  if (fields.length > FIELDS_SHOWN_MAX) listed.push(`and ${fields.length - FIELDS_SHOWN_MAX} more`);
  const details = listed.length > 0 ? `: ${listed.join("; ")}` : "";
  const origin = [code, status].filter((part) => typeof part === "string" || typeof part === "number");
  const named = origin.length > 0 ? ` (${shown(origin.join(", "))})` : "";
  return new RefusedError(
    `${shown(`${error}${details}`)}${named}${status === undefined ? "" : advice(code)}`,
    {
      status,
      ...(typeof code === "string" ? { code } : {}),
      fields,
    },
  );
}

function advice(code: unknown): string {
  if (code === "UNAUTHENTICATED") return ': run "obs login", or check OBS_TOKEN';
  return code === "INVALID_CREDENTIALS" ? '; a new account: "obs login --register"' : "";
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

function shown(text: string): string {
  const cut = text.length > ERROR_TEXT_MAX_CHARS ? `${text.slice(0, ERROR_TEXT_MAX_CHARS)}...` : text;
  return escapeControls(cut);
}
