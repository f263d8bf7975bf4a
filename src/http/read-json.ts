import type { ApiError, FieldIssueCode } from "../errors.ts";
import { validationFailed } from "../errors.ts";
import { isNestedDeeperThan } from "./json-depth.ts";
import { MAX_JSON_BODY_BYTES, MAX_JSON_DEPTH } from "./limits.ts";
import { requireMediaType } from "./media-type.ts";
import { readBody } from "./read-body.ts";
import { CONTENT_ENCODINGS } from "./unpack.ts";

interface JsonBodyOptions {
  /** Unpacked bytes. */
  readonly maxBytes?: number | undefined;
  /** An absent body counts as `{}` instead of being refused. */
  readonly optional?: boolean | undefined;
}

const JSON_TYPES = ["application/json"];

/**
 * Reads and parses a JSON body. Throws UNSUPPORTED_MEDIA_TYPE for another content type, what `readBody` throws, and
 * VALIDATION_FAILED for a body that is absent, not UTF-8, not JSON or nested too deeply.
 */
export async function readJson(
  request: Request,
  options: JsonBodyOptions,
  reserve?: (bytes: number) => void,
): Promise<unknown> {
  if (isAbsent(request)) return absent(options);
  requireMediaType(request, JSON_TYPES);
  const maxBytes = options.maxBytes ?? MAX_JSON_BODY_BYTES;
  const limits = { maxPackedBytes: maxBytes, maxUnpackedBytes: maxBytes, encodings: CONTENT_ENCODINGS };
  const bytes = await readBody(request, limits, reserve);
  return bytes.length === 0 ? absent(options) : parseJson(bytes);
}

/** Parses JSON of bounded nesting. Of a name given twice the last value counts; `__proto__` is a name like any other. */
export function parseJson(bytes: Uint8Array): unknown {
  if (isNestedDeeperThan(bytes, MAX_JSON_DEPTH)) {
    throw bodyProblem("too_big", `is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw bodyProblem("invalid_string", "is not valid UTF-8", error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bodyProblem("custom", "is not valid JSON", error);
  }
}

function isAbsent(request: Request): boolean {
  return request.body === null || request.headers.get("content-length") === "0";
}

function absent(options: JsonBodyOptions): unknown {
  if (options.optional === true) return {};
  throw bodyProblem("invalid_type", "is required");
}

function bodyProblem(code: FieldIssueCode, message: string, cause?: unknown): ApiError {
  return validationFailed([{ path: "", code, message }], `The body ${message}.`, cause);
}
