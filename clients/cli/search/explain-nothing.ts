import type { ApiClient } from "../../api/client.ts";
import { CallError } from "../../api/errors.ts";
import { isRecord } from "../../api/json.ts";
import { escapeControls } from "../terminal/escape-controls.ts";

interface Range {
  readonly from?: string;
  readonly to?: string;
}

interface SearchedFor extends Range {
  readonly q?: string;
  readonly query?: string;
  readonly service?: string;
  readonly level?: string;
}

/** The range in words: of a search that names none, that it is all there is. */
export function rangeInWords({ from, to }: Range): string {
  if (from === undefined && to === undefined) return "of all times";
  const begin = from === undefined ? [] : [`from ${escapeControls(from)}`];
  const end = to === undefined ? ["until now"] : [`to ${escapeControls(to)}`];
  return [...begin, ...end].join(" ");
}

/** Why a search may have found nothing, in one line; what cannot be asked for now is left out. */
export async function explainNothing(
  api: ApiClient,
  selection: SearchedFor,
  command: string,
): Promise<string> {
  const newest = await newestEntry(api);
  if (newest === undefined) return "the words, the level and the service must all match";
  if (newest === null) return `there are no entries yet: ${command} ship FILE`;
  const { from, to } = selection;
  const hint = `the newest entry of all is of ${newest}`;
  if (from !== undefined && Date.parse(newest) < Date.parse(from)) return `${hint}, before that`;
  if (to !== undefined && Date.parse(newest) > Date.parse(to)) return `${hint}: is the range the right one?`;
  const words =
    selection.q === undefined ? "" : "; all words must occur in one message: check their spelling";
  return `${hint}${words}`;
}

/** The time of the newest entry there is, null when there is none, undefined when that is not known. */
async function newestEntry(api: ApiClient): Promise<string | null | undefined> {
  const answer = await quietly(api.call("GET /api/v1/logs/search", { query: { limit: 1 } }));
  if (!isRecord(answer) || !Array.isArray(answer.entries)) return undefined;
  const [entry]: unknown[] = answer.entries;
  if (entry === undefined) return null;
  return isRecord(entry) && typeof entry.ts === "string" ? escapeControls(entry.ts) : undefined;
}

/** An explanation that cannot be had is none; the answer itself has been given. */
async function quietly(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CallError) return undefined;
    throw error;
  }
}
