import type {
  EntryAction,
  EntryColumns,
  EntryRule,
  EntryRulesOptions,
  RowTest,
} from "../../../ingest/index.ts";
import {
  columnsIn,
  messageConditions,
  predicateMatcher,
  type Relation,
  type RowBound,
  type RowMatcher,
  RowSet,
  rowBound,
  SearchIndex,
  TermFinder,
  termsOf,
} from "../../../query/index.ts";
import { ApiError } from "../../errors.ts";
import { compileEntryQuery, notAllowedHere } from "../../kql/issues.ts";
import { conditionsOf } from "../../kql/relation-conditions.ts";
import { EntryRow } from "../../receive/block-row.ts";
import { BoundedRows } from "../../receive/bounded-rows.ts";
import type { RuleTerms } from "./types.ts";

type TermPlaces = Parameters<EntryRule["rowsOf"]>[1];

/** Which entries a rule is for. */
interface RulePredicate {
  readonly relation: Relation;
  readonly matches: RowMatcher;
  /** What all entries fulfil that it is for; null when nothing is known of them. */
  readonly bound: RowBound | null;
}

/** A rule whose predicate has been read. */
export interface ReadRule {
  readonly action: EntryAction;
  /** Null for every entry; undecidable where this server does not understand it. */
  readonly predicate: RulePredicate | "undecidable" | null;
}

/** Two moments that no query can confuse. */
const MOMENTS_MS = [0, 1_000_000_007] as const;
/** What entries get only when they are stored. */
const GIVEN_WHEN_STORED = ["id", "receivedAt"];

const EVERY_ROW: RowTest = { candidates: null, isFor: () => true };
const NO_ROW: RowTest = { candidates: [], isFor: () => false };

/** Throws KQL_INVALID for a query that is not to be decided while an entry is received. */
export function readRule(terms: RuleTerms): ReadRule {
  const { query } = terms;
  return {
    action: actionOf(terms),
    predicate: query === null || query.trim() === "" ? null : readPredicate(query),
  };
}

/** The same of a rule that was made earlier, perhaps by a server that understood more. */
export function readStoredRule(terms: RuleTerms): ReadRule {
  try {
    return readRule(terms);
  } catch (error) {
    if (error instanceof ApiError) return { action: actionOf(terms), predicate: "undecidable" };
    throw error;
  }
}

/** Rules that are asked about the same entries: what they have in common is looked for once. With the terms of all of them. */
export function compileRules(rules: readonly ReadRule[]): Pick<EntryRulesOptions, "rules" | "terms"> {
  const finder = finderOf(rules);
  const known = new WeakMap<EntryColumns, BoundedRows>();
  const boundsOf = (block: EntryColumns, termPlaces: TermPlaces): BoundedRows => {
    const source = termPlaces === null ? finder : (finder?.foundAt(termPlaces) ?? null);
    const bounds = known.get(block) ?? new BoundedRows(block, new SearchIndex(block.message, source));
    known.set(block, bounds);
    return bounds;
  };
  const compiled = rules.map(({ action, predicate }): EntryRule => {
    // What cannot be decided is masked and not dropped: nothing gets out, and nothing is lost.
    const whenUndecided = action.kind === "mask";
    if (predicate === null) return { action, rowsOf: () => EVERY_ROW };
    if (predicate === "undecidable") return { action, rowsOf: () => (whenUndecided ? EVERY_ROW : NO_ROW) };
    return {
      action,
      rowsOf: (block, termPlaces) =>
        rowsOf(block, predicate, () => boundsOf(block, termPlaces), whenUndecided),
    };
  });
  return { rules: compiled, terms: finder?.needles ?? [] };
}

function rowsOf(
  block: EntryColumns,
  { matches, bound }: RulePredicate,
  boundsOf: () => BoundedRows,
  whenUndecided: boolean,
): RowTest {
  const bounded = bound === null ? null : boundsOf().rowsOf(bound, RowSet.all(block.rows));
  const candidates = bounded?.rows.toArray() ?? null;
  if (bounded?.isExact === true) return { candidates, isFor: (row) => bounded.rows.has(row) };
  return {
    candidates,
    isFor: (row) => bounded?.rows.has(row) !== false && (matches(new EntryRow(block, row)) ?? whenUndecided),
  };
}

function actionOf({ action, keepOneIn, fields, patterns }: RuleTerms): EntryAction {
  if (action === "drop") return { kind: "drop" };
  if (action === "sample") return { kind: "sample", keepOneIn: keepOneIn ?? 1 };
  return { kind: "mask", fields: fields ?? [], patterns: patterns ?? [] };
}

function readPredicate(text: string): RulePredicate {
  const [relation, later] = MOMENTS_MS.map((nowMs) => compileEntryQuery(text, nowMs));
  if (relation === undefined) throw new Error("no moment");
  const conditions = conditionsOf(relation);
  if (conditions === null)
    throw notAllowedHere(text, "A rule is for entries one by one: only `where` can stand here.");
  if (!Bun.deepEquals(relation, later))
    throw notAllowedHere(
      text,
      "A rule is asked at any time: the present, as in `now()` and `ago()`, cannot stand here.",
    );
  const columns = new Set(conditions.flatMap((condition) => [...columnsIn(condition)]));
  const unknown = GIVEN_WHEN_STORED.find((column) => columns.has(column));
  if (unknown !== undefined)
    throw notAllowedHere(
      text,
      `A rule is asked before an entry is stored: \`${unknown}\` is not known then.`,
    );
  const matches = predicateMatcher(conditions);
  if (matches === null)
    throw notAllowedHere(
      text,
      "Something in this predicate can be decided by the log store only, not while entries are received.",
    );
  return { relation, matches, bound: rowBound(conditions) };
}

function finderOf(rules: readonly ReadRule[]): TermFinder | null {
  const terms = new Set(
    rules.flatMap(({ predicate }) =>
      predicate === null || predicate === "undecidable" || predicate.bound === null
        ? []
        : messageConditions(predicate.bound).flatMap(termsOf),
    ),
  );
  return terms.size === 0 ? null : new TermFinder(terms);
}
