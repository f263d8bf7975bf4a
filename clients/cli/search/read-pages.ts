import { CliError } from "../cli-error.ts";
import type { ApiClient } from "../http/api-client.ts";
import { isRecord, type JsonRecord, parseJsonExactly } from "../http/json.ts";

/** The pages of a search, newest entries first, each with at most as many entries as `pageSize` says then. */
export async function* readPages(
  api: ApiClient,
  query: URLSearchParams,
  pageSize: () => number,
): AsyncGenerator<readonly JsonRecord[]> {
  let cursor: string | null = null;
  do {
    const page = new URLSearchParams(query);
    page.set("limit", String(pageSize()));
    if (cursor !== null) page.set("cursor", cursor);
    const answer = await api.expect([200], { method: "GET", path: "/api/v1/logs/search", query: page });
    const body = parseJsonExactly(answer.text);
    if (!isRecord(body) || !Array.isArray(body.entries))
      throw new CliError(`${api.baseUrl} answered a search with something else: is it an obs server?`);
    yield body.entries.filter(isRecord);
    cursor = typeof body.nextCursor === "string" ? body.nextCursor : null;
  } while (cursor !== null);
}
