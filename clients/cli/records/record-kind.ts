import type { ApiClient } from "../../api/client.ts";
import type { JsonRecord } from "../../api/json.ts";

/** A column of a list: the member that it shows, a path with dots, and how. */
interface RecordColumn {
  readonly header: string;
  readonly at: string;
  /** `id`, times and numbers are never cut. */
  readonly isRigid?: boolean;
  readonly isNumber?: boolean;
}

/** An option of a list that is a parameter of its route. */
interface RecordFilter {
  readonly name: string;
  readonly about: string;
  readonly choices?: readonly string[];
}

/** What was said besides the id. */
export interface ActionOptions {
  readonly [option: string]: string | undefined;
}

interface ActionContext {
  readonly api: ApiClient;
  readonly nowMs: number;
}

/** Something that is done to a record. */
interface RecordAction {
  readonly name: string;
  readonly about: string;
  readonly options?: readonly RecordActionOption[];
  /** Another argument behind the id. */
  readonly argument?: string;
  /** Answers what was done, in words for the terminal. */
  readonly run: (context: ActionContext, id: string, options: ActionOptions) => Promise<string>;
}

interface RecordActionOption {
  readonly flags: string;
  readonly about: string;
  readonly isNeeded?: boolean;
}

/** A kind of record of the server, from which its commands are made. */
export interface RecordKind {
  readonly command: string;
  readonly about: string;
  readonly columns: readonly RecordColumn[];
  readonly filters?: readonly RecordFilter[];
  /** The records that there are, a page at a time. */
  readonly list: (api: ApiClient, filters: ActionOptions) => AsyncIterable<readonly JsonRecord[]>;
  /** One of them with all that is known of it; absent where a list says everything. */
  readonly show?: (api: ApiClient, id: string) => Promise<JsonRecord>;
  readonly actions?: readonly RecordAction[];
}

/** A list that is one answer. */
export async function* wholeList(
  answer: Promise<readonly JsonRecord[]>,
): AsyncGenerator<readonly JsonRecord[]> {
  yield await answer;
}

/** The items of pages. */
export async function* itemsOf(
  pages: AsyncIterable<{ readonly items: readonly JsonRecord[] }>,
): AsyncGenerator<readonly JsonRecord[]> {
  for await (const { items } of pages) yield items;
}
