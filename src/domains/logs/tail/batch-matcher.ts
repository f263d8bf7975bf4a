import type { CommittedBlock } from "../../../../ingest/index.ts";
import { RowSet, SearchIndex, type TermFinder } from "../../../../query/index.ts";
import { BlockRow } from "../../../receive/block-row.ts";
import { BoundedRows } from "../../../receive/bounded-rows.ts";
import { EntryEncoder } from "../../../receive/entry-encoder.ts";
import type { MatchedEntries, TailEntry, TailFilter } from "./tail-filter.ts";

const NO_ENTRIES: MatchedEntries = { count: 0, lastId: 0n, first: () => [] };

/** Finds the entries of a committed batch that filters let through. What filters have in common is done once. */
export class BatchMatcher {
  readonly #block: CommittedBlock;
  readonly #search: SearchIndex;
  readonly #bounds: BoundedRows;
  readonly #encoder: EntryEncoder;
  readonly #sets = new Map<string, RowSet>();
  readonly #entries = new Map<number, TailEntry>();

  constructor(block: CommittedBlock, finder: TermFinder | null) {
    this.#block = block;
    this.#search = new SearchIndex(block.message, finder);
    this.#bounds = new BoundedRows(block, this.#search);
    this.#encoder = new EntryEncoder(block);
  }

  /** Null when only the store can tell which they are. */
  entriesOf(organizationId: number, { filter, matches, bound }: TailFilter): MatchedEntries | null {
    const { search, service, level } = filter;
    let set = this.#rowsOfOrganization(organizationId);
    if (level !== null) set = set.and(this.#rowsOfLevel(level));
    if (service !== null) set = set.and(this.#rowsOfService(service));
    if (search !== null) set = set.and(this.#search.rowsMatching(search));
    if (matches === null) return this.#matchedEntries(set.toArray());
    const bounded = bound === null ? null : this.#bounds.rowsOf(bound, set);
    const candidates = (bounded?.rows ?? set).toArray();
    if (bounded?.isExact === true) return this.#matchedEntries(candidates);
    const rows: number[] = [];
    for (const row of candidates) {
      const isWanted = matches(new BlockRow(this.#block, row));
      if (isWanted === null) return null;
      if (isWanted) rows.push(row);
    }
    return this.#matchedEntries(rows);
  }

  /** Of one organization. */
  countOf(organizationId: number): number {
    return this.#rowsOfOrganization(organizationId).size;
  }

  #matchedEntries(rows: readonly number[]): MatchedEntries {
    if (rows.length === 0) return NO_ENTRIES;
    return {
      count: rows.length,
      lastId: this.#block.id(rows.at(-1) ?? 0),
      first: (count) => rows.slice(0, count).map((row) => this.#entryOf(row)),
    };
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
      entry = { id: this.#block.id(row), json: this.#encoder.encode(row) };
      this.#entries.set(row, entry);
    }
    return entry;
  }
}
