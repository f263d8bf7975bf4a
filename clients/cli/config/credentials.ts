import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { writePrivateFile } from "./private-file.ts";
import { configDirectory } from "./user-directories.ts";

/** What `obs login` keeps: one server and the token for it. */
export interface Credentials {
  readonly url: string;
  readonly token: string;
  /** Of a token that `obs login` made: its number, and when it ends as a date-time. */
  readonly tokenId?: number;
  readonly expiresAt?: string;
}

/** The form of a personal access token. */
export const TOKEN_PATTERN = /^obs_[A-Za-z0-9_-]{43}$/;

export function credentialsPath(context: Pick<CliContext, "env" | "homeDirectory">): string {
  return join(configDirectory(context), "credentials.json");
}

/** The stored credentials, undefined when there are none. A file that cannot be understood is an error, not none. */
export async function readCredentials(
  context: Pick<CliContext, "env" | "homeDirectory">,
): Promise<Credentials | undefined> {
  const path = credentialsPath(context);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw new CliError(`cannot read ${path}`, { cause: error });
  }
  const stored = parseJsonOrUndefined(text);
  if (isRecord(stored)) {
    const { url, token, tokenId, expiresAt } = stored;
    if (typeof url === "string" && typeof token === "string")
      return {
        url,
        token,
        ...(typeof tokenId === "number" && { tokenId }),
        ...(typeof expiresAt === "string" && { expiresAt }),
      };
  }
  throw new CliError(`${path} is damaged; run "obs login" again`);
}

/** Stores the credentials, readable by the user only. */
export async function writeCredentials(
  context: Pick<CliContext, "env" | "homeDirectory">,
  credentials: Credentials,
): Promise<void> {
  const path = credentialsPath(context);
  try {
    await writePrivateFile(path, `${JSON.stringify(credentials, null, 2)}\n`);
  } catch (error) {
    throw new CliError(`cannot write ${path}`, { cause: error });
  }
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
