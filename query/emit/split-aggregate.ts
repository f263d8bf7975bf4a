import type { Aggregate, NamedExpression } from "../plan/relation.ts";
import { aliasBinding, type Bindings, identifiersOf } from "./binding.ts";
import {
  bindingsOf,
  type DefinedColumn,
  defineColumn,
  definitionsOf,
  type NewAlias,
} from "./defined-column.ts";
import { blockOver, type Definition, type SelectBlock } from "./select-block.ts";
import { hasGrouping } from "./short-forms.ts";

/** What a key becomes in a SELECT. */
interface DefinedGroup {
  readonly column: DefinedColumn;
  readonly definitions: readonly Definition[];
  /** What to group by. */
  readonly identifiers: readonly string[];
}

/** The groups of the rows of a block whose rows are still those of its source. */
export function splitAggregate(
  open: SelectBlock,
  { keys, aggregates }: Pick<Aggregate, "keys" | "aggregates">,
  newAlias: NewAlias,
): SelectBlock {
  // Some aggregates, lists above all, depend on the order of the rows.
  const block =
    open.orderBy.length === 0 ? open : { ...blockOver({ kind: "block", block: open }, open.bindings) };
  const groups = keys.map((key) => defineGroup(key, block.bindings, newAlias));
  const calls = aggregates.map((call): DefinedColumn => {
    const alias = newAlias();
    const definition: Definition = { kind: "aggregate", alias, call, bindings: block.bindings };
    return { name: call.name, binding: aliasBinding(call.type, alias), definition };
  });
  return {
    ...block,
    definitions: [
      ...block.definitions,
      ...groups.flatMap(({ definitions }) => definitions),
      ...definitionsOf(calls),
    ],
    groupBy: groups.flatMap(({ identifiers }) => identifiers),
    bindings: new Map([...bindingsOf(groups.map(({ column }) => column)), ...bindingsOf(calls)]),
  };
}

/** The key itself, or something shorter to group by, of which the key is made once for each group. */
function defineGroup(key: NamedExpression, bindings: Bindings, newAlias: NewAlias): DefinedGroup {
  if (!hasGrouping(key.expression)) {
    const column = defineColumn(key, bindings, newAlias);
    return { column, definitions: definitionsOf([column]), identifiers: identifiersOf(column.binding) };
  }
  const value = { expression: key.expression, bindings };
  const [short, alias] = [newAlias(), newAlias()];
  const definition: Definition = { kind: "groupingValue", alias, value, key: short };
  const column = { name: key.name, binding: aliasBinding(key.expression.type, alias), definition };
  return {
    column,
    definitions: [{ kind: "groupingKey", alias: short, value }, definition],
    identifiers: [short],
  };
}
