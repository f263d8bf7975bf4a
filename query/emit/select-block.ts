import type {
  AggregateCall,
  GuardedKeptScan,
  GuardedScan,
  JoinKind,
  SortKey,
  WindowCall,
} from "../plan/relation.ts";
import type { ScalarType } from "../scalar-type.ts";
import type { Bindings, BoundExpression } from "./binding.ts";

/** Something computed inside a SELECT, under the alias by which the rest of the SELECT refers to it. */
export type Definition =
  | { readonly kind: "scalar"; readonly alias: string; readonly value: BoundExpression }
  /** An array of strings as an Array(String). */
  | { readonly kind: "strings"; readonly alias: string; readonly value: BoundExpression }
  /** The short key that a group has instead of its value, and the value from it. */
  | { readonly kind: "groupingKey"; readonly alias: string; readonly value: BoundExpression }
  | {
      readonly kind: "groupingValue";
      readonly alias: string;
      readonly value: BoundExpression;
      readonly key: string;
    }
  /** The value in a place of a kept row, counted from 1. */
  | { readonly kind: "cell"; readonly alias: string; readonly place: number; readonly type: ScalarType }
  /** A stored column, or a part of one, under a name that is unique in the statement. */
  | { readonly kind: "renamed"; readonly alias: string; readonly identifier: string }
  /** The column of a side that an outer join may have filled: nothing instead of NULL. */
  | { readonly kind: "filled"; readonly alias: string; readonly identifier: string }
  | {
      readonly kind: "aggregate";
      readonly alias: string;
      readonly call: AggregateCall;
      readonly bindings: Bindings;
    }
  /** The row's place in the order. */
  | { readonly kind: "ordinal"; readonly alias: string; readonly orderBy: readonly BoundSortKey[] }
  /** How many rows so far, this one included, began anew. */
  | {
      readonly kind: "section";
      readonly alias: string;
      readonly restart: BoundExpression;
      readonly ordinal: string;
    }
  | {
      readonly kind: "window";
      readonly alias: string;
      readonly call: WindowCall;
      readonly bindings: Bindings;
      readonly ordinal: string;
      readonly section: string | null;
    };

export interface BoundSortKey {
  readonly identifier: string;
  /** A clause about nulls that cannot occur would keep ClickHouse from reading in the order of the primary key. */
  readonly isNullable: boolean;
  readonly direction: SortKey["direction"];
  readonly nulls: "first" | "last";
}

export interface JoinSource {
  readonly kind: "join";
  readonly joinKind: JoinKind;
  readonly left: SelectBlock;
  readonly right: SelectBlock;
  /** Identifiers of the sides; null matches null where both can be. */
  readonly on: readonly JoinPair[];
}

interface JoinPair {
  readonly left: string;
  readonly right: string;
  readonly type: ScalarType;
  readonly isNullable: boolean;
}

interface UnionSource {
  readonly kind: "union";
  /** They answer with the same identifiers in the same order. */
  readonly branches: readonly SelectBlock[];
}

export interface ValuesSource {
  readonly kind: "values";
  readonly rowCount: number;
  readonly columns: readonly {
    readonly alias: string;
    readonly type: ScalarType;
    readonly cells: readonly BoundExpression[];
  }[];
}

export interface SeriesSource {
  readonly kind: "series";
  readonly alias: string;
  readonly start: BoundExpression;
  readonly step: BoundExpression;
  readonly count: number;
}

/** A scan that says whose rows it reads. */
export type StoredScan = GuardedScan | GuardedKeptScan;

export interface TableSource {
  readonly kind: "table";
  readonly scan: StoredScan;
}

interface BlockSource {
  readonly kind: "block";
  readonly block: SelectBlock;
}

export type Source = TableSource | BlockSource | JoinSource | UnionSource | ValuesSource | SeriesSource;

interface Expansion {
  readonly alias: string;
  readonly value: BoundExpression;
  /** Its elements are texts of strings; else they are JSON texts. */
  readonly isOfTexts: boolean;
}

/** One SELECT: as many operators of a plan as fit into ClickHouse's fixed order of clauses. */
export interface SelectBlock {
  readonly source: Source;
  /** Evaluated before anything else of the block. */
  readonly expansions: readonly Expansion[];
  /** The alias of the position among the elements; null when nothing asks for it. */
  readonly expansionIndex: string | null;
  readonly expansionMax: number | null;
  readonly expansionMembers: "bags" | "arrays";
  readonly definitions: readonly Definition[];
  readonly where: readonly BoundExpression[];
  /** The identifiers of the keys; null when the block does not aggregate. */
  readonly groupBy: readonly string[] | null;
  readonly orderBy: readonly BoundSortKey[];
  /** The first rows of each combination of the identifiers; null for none. */
  readonly limitPer: { readonly maxRows: number; readonly identifiers: readonly string[] } | null;
  readonly maxRows: number | null;
  /** What the block answers with. */
  readonly bindings: Bindings;
  /** Identifiers that only a surrounding SELECT uses: its order. */
  readonly hidden: readonly string[];
}

/** True when the rows of the block are still those of its source: more of them may be filtered out. */
export function isOpen({ groupBy, maxRows, limitPer }: SelectBlock): boolean {
  return groupBy === null && maxRows === null && limitPer === null;
}

/** A SELECT of everything that the source has. */
export function blockOver(source: Source, bindings: Bindings): SelectBlock {
  return {
    source,
    expansions: [],
    expansionIndex: null,
    expansionMax: null,
    expansionMembers: "bags",
    definitions: [],
    where: [],
    groupBy: null,
    orderBy: [],
    limitPer: null,
    maxRows: null,
    bindings,
    hidden: [],
  };
}

/** A new SELECT around the block, in its order. */
export function nest(block: SelectBlock): SelectBlock {
  const isCut = block.maxRows !== null || block.limitPer !== null;
  const keys = block.orderBy.map(({ identifier }) => identifier);
  const inner = { ...block, orderBy: isCut ? block.orderBy : [], hidden: [...block.hidden, ...keys] };
  return { ...blockOver({ kind: "block", block: inner }, block.bindings), orderBy: block.orderBy };
}

/** A block whose rows are still those of its source, to filter or to group. */
export function opened(block: SelectBlock): SelectBlock {
  return isOpen(block) ? block : nest(block);
}
