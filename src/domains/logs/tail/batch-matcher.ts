import { type CommittedBlock, indexedText } from "../../../../ingest/index.ts";
import { RowSet, SearchIndex, type TermFinder } from "../../../../query/index.ts";
import { encodeEntry } from "../entry-json.ts";
import { BlockRow } from "./block-row.ts";
import type { TailEntry, TailFilter } from "./tail-filter.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Finds the entries of a committed batch that filters let through. What filters have in common is done once. */
export class BatchMatcher {
  readonly #block: CommittedBlock;
  readonly #search: SearchIndex;
  readonly #sets = new Map<string, RowSet>();
  readonly #entries = new Map<number, TailEntry>();

  constructor(block: CommittedBlock, finder: TermFinder | null) {
    this.#block = block;
    this.#search = new SearchIndex(block.message, finder);
  }

  /** In the order of their ids; null when only the store can tell which they are. */
  entriesOf(organizationId: number, { filter, matches }: TailFilter): TailEntry[] | null {
    const { search, service, level } = filter;
    let rows = this.#rowsOfOrganization(organizationId);
    if (level !== null) rows = rows.and(this.#rowsOfLevel(level));
    if (service !== null) rows = rows.and(this.#rowsOfService(service));
    if (search !== null) rows = rows.and(this.#search.rowsMatching(search));
    const entries: TailEntry[] = [];
    for (const row of rows.toArray()) {
      const isWanted = matches === null || matches(new BlockRow(this.#block, row));
      if (isWanted === null) return null;
      if (isWanted) entries.push(this.#entryOf(row));
    }
    return entries;
  }

  #rowsOfOrganization(organizationId: number): RowSet {
    return this.#once(
      `organization ${organizationId}`,
      (row) => this.#block.organizationId(row) === organizationId,
    );
  }

  #rowsOfLevel(level: string): RowSet {
    return this.#once(`level ${level}`, (row) => this.#block.level(row) === level);
  }

  #rowsOfService(name: string): RowSet {
    const { texts, indexes } = this.#block.service;
    const index = texts.indexOf(name);
    return this.#once(`service ${name}`, (row) => indexes[row] === index);
  }

  #once(key: string, holds: (row: number) => boolean): RowSet {
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = RowSet.where(this.#block.rows, holds);
      this.#sets.set(key, set);
    }
    return set;
  }

  #entryOf(row: number): TailEntry {
    let entry = this.#entries.get(row);
    if (entry === undefined) {
      entry = { id: this.#block.id(row), json: encodeEntry(wireRowOf(this.#block, row)) };
      this.#entries.set(row, entry);
    }
    return entry;
  }
}

/** The row in the wire formats of `ENTRY_COLUMNS`, as the store would answer it. */
export function wireRowOf(block: CommittedBlock, row: number): readonly unknown[] {
  return [
    block.id(row).toString(),
    block.ts(row).toString(),
    (block.receivedAt(row) * NANOS_PER_MILLI).toString(),
    block.level(row),
    indexedText(block.service, row),
    indexedText(block.source, row),
    indexedText(block.host, row),
    block.messageText(row),
    block.eventId(row),
    block.traceId(row),
    block.spanId(row),
    block.attributes(row),
  ];
}
