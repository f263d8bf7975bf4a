import { ApiError, CallError } from "../api/errors.ts";
import { FIELDS_SHOWN_MAX } from "../api/limits.ts";
import { CliError } from "./cli-error.ts";
import { commandName } from "./context.ts";
import { escapeControls } from "./terminal/escape-controls.ts";

/** What a failed call is told as: in one line in which nothing commands the terminal, with what to do about it. */
export function wordFailure(error: CallError): string {
  if (!(error instanceof ApiError)) return escapeControls(error.message);
  return `${escapeControls(refusedFields(error) ?? error.message)}${adviceOn(error)}`;
}

/** What the parts of requests are called on the command line, where that is not an option of the same name. */
const WORDS_FOR_FIELDS: Readonly<Record<string, string>> = {
  q: "the words",
  email: "the email address",
  password: "the password",
  inviteToken: "--invite",
  sourceKey: "the key of the source",
};

/** What is wrong with the request in the words of the command line; null where the server does not say it part by part. */
function refusedFields({ code, status, fields }: ApiError): string | null {
  if (code !== "VALIDATION_FAILED" || fields.length === 0) return null;
  const told = [
    ...new Set(
      fields.map(
        ({ path, message }) =>
          `${fieldName(path)}${/^(must|is|has|does)\b/.test(message) ? "" : ":"} ${message}`,
      ),
    ),
  ];
  if (told.length > FIELDS_SHOWN_MAX) told.splice(FIELDS_SHOWN_MAX, told.length, "and more");
  return `${told.join("; ")} (${[code, status].join(", ")})`;
}

/** The option that a JSON pointer stands for: of entries it does not matter which. */
function fieldName(path: string): string {
  const name = path.split("/").findLast((part) => part !== "" && !/^\d+$/.test(part));
  if (name === undefined) return "the request";
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return WORDS_FOR_FIELDS[name] ?? `--${option}`;
}

function adviceOn({ status, code }: ApiError): string {
  if (status === undefined) return "";
  const obs = commandName();
  if (code === "UNAUTHENTICATED") return `: run "${obs} login", or check OBS_TOKEN`;
  if (code === "PAT_SCOPE_INSUFFICIENT") return `: "${obs} token create --sign-in" makes a token that may`;
  return code === "INVALID_CREDENTIALS" ? `; a new account: "${obs} login --register"` : "";
}

/** A failed call as one of this command, worded; anything else as it is. */
export function asCliError(error: unknown): unknown {
  return error instanceof CallError ? new CliError(wordFailure(error), { cause: error }) : error;
}

/** Another program answers at the address, or a server of another time. `what` is what it was asked for. */
export function foreignAnswer(baseUrl: string, what: string): CliError {
  return new CliError(`${baseUrl} answered ${what} with something else: is it an obs server?`);
}
