import { appendChanged, appendEntries } from "./append-entries.ts";
import type { EntryRules, JudgedEntries } from "./entry-rules.ts";
import type { IngestRequest } from "./ingest-request.ts";
import type { LogBatch } from "./log-batch.ts";
import { type RequestCopy, requestColumns } from "./request-columns.ts";

/** The rules of an organisation; null where entries are stored as they come. Rejects when nobody can tell: nothing is stored then. */
export type RulesOf = (organizationId: number) => EntryRules | null | Promise<EntryRules | null>;

/** The entries of a small request: what appends them, and what rules did to them before. */
export interface RequestEntries {
  readonly append: IngestRequest["decode"];
  /** Entries that the request has and that are not appended: known once it was appended. */
  readonly dropped: number;
  /** To be called when they are durable. */
  readonly applied: () => void;
}

const NOTHING: ReadonlySet<number> = new Set();

export function asReceived({ decode }: IngestRequest): RequestEntries {
  return { append: decode, dropped: 0, applied: () => {} };
}

/** As rules leave them. */
export function asRuled(request: IngestRequest, rules: EntryRules, copy: RequestCopy): RequestEntries {
  return new RuledRequest(request, rules, copy);
}

/**
 * Entries that are judged where they are decoded to, in the open batch: hardly any request has something to drop or to mask,
 * and what has is written anew before anybody else gets a turn.
 */
class RuledRequest implements RequestEntries {
  readonly #request: IngestRequest;
  readonly #rules: EntryRules;
  readonly #copy: RequestCopy;
  #judged: JudgedEntries | null = null;

  constructor(request: IngestRequest, rules: EntryRules, copy: RequestCopy) {
    this.#request = request;
    this.#rules = rules;
    this.#copy = copy;
  }

  get dropped(): number {
    return this.#judged?.dropped.size ?? 0;
  }

  readonly append = (batch: LogBatch, skip: ReadonlySet<number>): void => {
    this.#request.decode(batch, NOTHING);
    this.#judged ??= judgeAtOnce(this.#rules, batch);
    const { dropped, replaced } = this.#judged;
    // What is dropped must not leave a name behind that nobody else has.
    if (replaced.size === 0 && skip.size === 0 && batch.areOfOlderNames(dropped)) {
      rewriteTexts(batch, this.#judged, this.#copy);
      if (dropped.size > 0) batch.dropRows(dropped);
      return;
    }
    const received = this.#copy.of(batch);
    // With all it added to dictionaries.
    batch.rewindRequest();
    appendEntries(batch, received, withoutDropped(this.#judged, received.rows, skip), this.#judged);
  };

  readonly applied = (): void => {
    if (this.#judged !== null) hearApplied(this.#rules, this.#judged);
  };
}

/** Everything but messages and texts of attributes stays where it is, and these too where none of them changes. */
function rewriteTexts(batch: LogBatch, { messages, values }: JudgedEntries, copy: RequestCopy): void {
  const { message, attrs } = batch;
  if (messages.places.length > 0) {
    const received = copy.ofMessages(message.sinceBookmark());
    message.rewind();
    appendChanged(message, received, messages);
  }
  if (values.places.length > 0) {
    const received = copy.ofTexts(attrs.values.sinceBookmark());
    attrs.values.rewind();
    appendChanged(attrs.values, received, values);
  }
}

function judgeAtOnce(rules: EntryRules, batch: LogBatch): JudgedEntries {
  const judging = rules.judge(requestColumns(batch));
  let step = judging.next();
  while (step.done !== true) step = judging.next();
  return step.value;
}

function hearApplied({ applied }: EntryRules, { outcomes }: JudgedEntries): void {
  if (outcomes.length > 0) applied(outcomes);
}

/** The positions of what is not appended; those in `skip` are counted among what is not dropped. */
function withoutDropped(
  { dropped }: JudgedEntries,
  rows: number,
  skip: ReadonlySet<number>,
): ReadonlySet<number> {
  if (skip.size === 0) return dropped;
  const passed = new Set(dropped);
  let position = 0;
  for (let row = 0; row < rows; row++) if (!dropped.has(row) && skip.has(position++)) passed.add(row);
  return passed;
}
