import type { ApiClient } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { CliError, UsageError } from "../cli-error.ts";

/** Which configured source lines are sent through. */
export interface SourceChoice {
  readonly sourceKey?: string;
  readonly preset?: string;
}

/** What a source's key looks like, as the API documents it. */
const SOURCE_KEY = /^[a-z0-9][a-z0-9-]{1,62}$/;

/**
 * The key of the source that is meant, null for none. A preset is that of a source of its name, or of the named one, which is
 * made where there is none. Throws CliError for a source that is not there or has another preset.
 */
export async function chooseSource(
  api: ApiClient,
  { sourceKey, preset }: SourceChoice,
): Promise<{ key: string; isNew: boolean } | null> {
  const key = sourceKey ?? preset;
  if (key === undefined) return null;
  requireSourceKey(key);
  const existing = await findSource(api, key);
  if (existing !== null) {
    if (preset !== undefined && existing.preset !== undefined && existing.preset !== preset)
      throw new CliError(
        `the source ${key} has ${existing.preset === null ? "no preset" : `the preset ${existing.preset}`}, not ${preset}: name another with --source-key`,
      );
    return { key, isNew: false };
  }
  if (preset === undefined)
    throw new CliError(
      `there is no source ${key}: add --preset NAME to make it, or make it with obs sources create`,
    );
  await api.call("POST /api/v1/ingest/sources", { body: { sourceKey: key, name: key, preset }, expect: 201 });
  return { key, isNew: true };
}

/** Throws UsageError for what can be no source's key. */
export function requireSourceKey(key: string): void {
  if (!SOURCE_KEY.test(key))
    throw new UsageError(`${key} is no key of a source: 2 to 63 lowercase letters, digits and hyphens`);
}

/** Null where there is none; the preset is undefined where this token may not see it. */
async function findSource(
  api: ApiClient,
  key: string,
): Promise<{ preset: string | null | undefined } | null> {
  try {
    return await api.call("GET /api/v1/ingest/sources/:key", { params: { key } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    // A token that may only write logs does not see sources; sending says whether there is one.
    if (error instanceof ApiError && error.code === "PAT_SCOPE_INSUFFICIENT") return { preset: undefined };
    throw error;
  }
}
