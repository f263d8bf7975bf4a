import { ApiError, CallError } from "../api/errors.ts";
import { CliError } from "./cli-error.ts";
import { escapeControls } from "./terminal/escape-controls.ts";

/** What a failed call is told as: in one line in which nothing commands the terminal, with what to do about it. */
export function wordFailure(error: CallError): string {
  return `${escapeControls(error.message)}${error instanceof ApiError ? adviceOn(error) : ""}`;
}

function adviceOn({ status, code }: ApiError): string {
  if (status === undefined) return "";
  if (code === "UNAUTHENTICATED") return ': run "obs login", or check OBS_TOKEN';
  return code === "INVALID_CREDENTIALS" ? '; a new account: "obs login --register"' : "";
}

/** A failed call as one of this command, worded; anything else as it is. */
export function asCliError(error: unknown): unknown {
  return error instanceof CallError ? new CliError(wordFailure(error), { cause: error }) : error;
}

/** Another program answers at the address, or a server of another time. `what` is what it was asked for. */
export function foreignAnswer(baseUrl: string, what: string): CliError {
  return new CliError(`${baseUrl} answered ${what} with something else: is it an obs server?`);
}
