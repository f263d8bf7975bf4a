import { ApiError } from "../../errors.ts";
import { STATEMENT_MAX_FILES } from "./limits.ts";

/** The error, with what the archive had to do with it where it was a limit. */
export function withHint(error: unknown, files: number): unknown {
  if (!(error instanceof ApiError && LIMITS.has(error.code))) return error;
  const hint = `${files} archived ${files === 1 ? "file was" : "files were"} read for it: a narrower time range leaves some out.`;
  return new ApiError(error.code, `${error.message} ${hint}`, { cause: error.cause });
}

const LIMITS: ReadonlySet<string> = new Set(["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"]);

export function tooMuch(files: number): ApiError {
  return new ApiError(
    "QUERY_TOO_EXPENSIVE",
    `The ${files} archived files in the time range hold more than a query may read; narrow the time range.`,
  );
}

export function tooManyFiles(): ApiError {
  return new ApiError(
    "QUERY_TOO_EXPENSIVE",
    `The query reads more than ${STATEMENT_MAX_FILES} archived files; narrow the time range.`,
  );
}
