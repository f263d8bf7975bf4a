import type { AggregateCall, SortKey } from "../plan.ts";
import type { TableSchema } from "../schema.ts";
import type { Bindings, BoundExpression } from "./binding.ts";

/** Something computed inside a SELECT, under the alias by which the rest of the SELECT refers to it. */
export type Definition =
  | { readonly kind: "scalar"; readonly alias: string; readonly value: BoundExpression }
  | {
      readonly kind: "aggregate";
      readonly alias: string;
      readonly call: AggregateCall;
      readonly bindings: Bindings;
    };

export interface BoundSortKey {
  readonly value: BoundExpression;
  readonly direction: SortKey["direction"];
}

/** One SELECT: as many operators of a plan as fit into ClickHouse's fixed order of clauses. */
export interface SelectBlock {
  readonly source: TableSchema | SelectBlock;
  readonly definitions: readonly Definition[];
  readonly where: readonly BoundExpression[];
  /** The identifiers of the keys; null when the block does not aggregate. */
  readonly groupBy: readonly string[] | null;
  readonly orderBy: readonly BoundSortKey[];
  readonly maxRows: number | null;
  /** What the block answers with. */
  readonly bindings: Bindings;
}

export function isBlock(source: TableSchema | SelectBlock): source is SelectBlock {
  return "source" in source;
}
