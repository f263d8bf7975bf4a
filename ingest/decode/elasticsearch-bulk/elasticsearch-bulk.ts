import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH, REQUEST_MAX_RECORDS } from "../../limits.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject, numberText, tryParseJson } from "../json-body.ts";
import { type Line, linesOf } from "../lines.ts";
import { writeIndexed } from "./indexed-document.ts";
import { PlainDocuments } from "./plain-documents.ts";

const ACTIONS = ["create", "index", "update", "delete"] as const;
type BulkAction = (typeof ACTIONS)[number];

/** What became of one action of a request. */
export interface BulkItem {
  readonly action: BulkAction;
  readonly index: string;
  /** The id that the sender gave. */
  readonly id: string | null;
  /** Why it was refused; null when it is an entry now. */
  readonly refusal: string | null;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The body of Elasticsearch's bulk request: pairs of lines, an action and its document. `create` and `index` make an
 * entry of the document, by the well-known keys of JSON logs; log entries cannot be updated or deleted. Only the id of a
 * `create` deduplicates, as the sender says with it that there must be one such document; it repeats it when it retries.
 * What is wrong with a document concerns its item alone; a line that is no action ends the request, because
 * nothing after it can be told apart any more. One instance serves one request.
 * Source: Elasticsearch reference, "Bulk API".
 */
export class ElasticsearchBulk implements RecordDecoder {
  readonly format = "elasticsearch-bulk";
  /** The index of actions that name none. */
  readonly #defaultIndex: string;
  #items: BulkItem[] = [];
  readonly #plain = new PlainDocuments();
  /** The action before and its line: where senders give no ids they are all the same. */
  #lastLine: Uint8Array = NO_BYTES;
  #lastAction: Action | null = null;

  constructor(defaultIndex: string) {
    this.#defaultIndex = defaultIndex;
  }

  /** What became of the actions, in their order, once the body has been decoded. */
  get items(): readonly BulkItem[] {
    return this.#items;
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    this.#items = [];
    this.#plain.use(body);
    const lines = linesOf(body);
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      if (this.#items.length === REQUEST_MAX_RECORDS)
        throw refused("too_big", `at most ${REQUEST_MAX_RECORDS} actions in a request`);
      const { action, index, id } = this.#readAction(next.value);
      if (action === "delete") {
        this.#items.push({ action, index, id, refusal: UNCHANGEABLE });
        continue;
      }
      const document = lines.next();
      const refusal =
        action === "update"
          ? UNCHANGEABLE
          : document.done === true
            ? "the document is missing"
            : this.#writeDocument(writer, { action, index, id }, document.value);
      this.#items.push({ action, index, id, refusal });
    }
    if (this.#items.length === 0) throw refused("too_small", "the body holds no action");
  }

  #readAction(line: Line): Action {
    if (this.#lastAction !== null && Buffer.compare(line.bytes, this.#lastLine) === 0)
      return this.#lastAction;
    this.#lastAction = this.#parseAction(line);
    this.#lastLine = line.bytes;
    return this.#lastAction;
  }

  #parseAction(line: Line): Action {
    const parsed = parseLine(line);
    // Further keys, such as a sender's own counter of attempts, mean nothing, as to Elasticsearch.
    const [name] = typeof parsed === "string" ? [] : Object.keys(parsed);
    const action = ACTIONS.find((known) => known === name);
    const about = typeof parsed === "string" || name === undefined ? undefined : parsed[name];
    if (action === undefined || !isJsonObject(about))
      throw refused("custom", `line ${line.number} is no action such as {"create":{"_index":"logs"}}`);
    return { action, index: textOf(about._index) ?? this.#defaultIndex, id: textOf(about._id) };
  }

  /** Makes an entry of a document; answers why not. */
  #writeDocument(writer: RecordWriter, { action, index, id }: Action, line: Line): string | null {
    const place = { index, id, isCreated: action === "create" };
    if (this.#plain.write(writer, place, line.bytes)) return null;
    const document = parseLine(line);
    if (typeof document === "string") return `the document in line ${line.number} ${document}`;
    writeIndexed(writer, place, document);
    return null;
  }
}

const NO_BYTES = new Uint8Array(0);
const UNCHANGEABLE = "log entries cannot be updated or deleted; use create or index";

interface Action {
  readonly action: BulkAction;
  readonly index: string;
  readonly id: string | null;
}

/** The object in a line, or why there is none. */
function parseLine({ bytes }: Line): JsonObject | string {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return "is not UTF-8";
  }
  const parsed = tryParseJson(text, JSON_MAX_DEPTH);
  if (!parsed.ok) return parsed.reason;
  return isJsonObject(parsed.value) ? parsed.value : "is no JSON object";
}

/** Ids may be written as numbers. */
function textOf(value: unknown): string | null {
  const text = typeof value === "string" ? value : numberText(value);
  return text === "" ? null : text;
}

function refused(code: "custom" | "too_small" | "too_big", message: string): IngestRejectedError {
  return new IngestRejectedError(message, [{ path: "", code, message }]);
}
