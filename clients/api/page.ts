import type { CallAnswer, CallInput, PagedCallName } from "./calls.ts";
import type { ApiClient } from "./client.ts";
import { isRecord } from "./json.ts";

/**
 * The pages of an answer, from the first to the last. What to ask for is said again for each page, so that a reader who needs
 * less than a whole one at the end asks for less.
 */
export async function* readPages<Name extends PagedCallName>(
  api: ApiClient,
  name: Name,
  inputOf: (cursor: { readonly cursor?: string }) => CallInput<Name>,
): AsyncGenerator<CallAnswer<Name>> {
  let cursor: string | null = null;
  do {
    const page: CallAnswer<Name> = await api.call(name, inputOf(cursor === null ? {} : { cursor }));
    yield page;
    cursor = nextCursorOf(page);
  } while (cursor !== null);
}

function nextCursorOf(page: unknown): string | null {
  return isRecord(page) && typeof page.nextCursor === "string" ? page.nextCursor : null;
}
