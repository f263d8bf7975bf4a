import type { Binding } from "./binding.ts";
import type { Definition } from "./select-block.ts";

/** A column of a SELECT under its public name. */
export interface DefinedColumn {
  readonly name: string;
  readonly binding: Binding;
  /** Null when the name merely stands for something that is in reach already. */
  readonly definition: Definition | null;
}

export function definitionsOf(columns: readonly DefinedColumn[]): Definition[] {
  return columns.flatMap(({ definition }) => (definition === null ? [] : [definition]));
}

export function bindingsOf(columns: readonly DefinedColumn[]): [string, Binding][] {
  return columns.map(({ name, binding }) => [name, binding]);
}
