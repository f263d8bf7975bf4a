import type { Expression } from "../expression.ts";
import type { WindowCall } from "../plan/relation.ts";
import { aliasBinding, type Binding } from "./binding.ts";
import { type BoundSortKey, type Definition, nest, type SelectBlock } from "./select-block.ts";

/**
 * Window functions over the rows of a block in its order. The rows are numbered first, so that every function sees the
 * same order, ties included; then the parts between restarts are numbered; then the functions look at the rows around.
 */
export function splitWindow(
  ordered: SelectBlock,
  calls: readonly WindowCall[],
  newAlias: () => string,
): SelectBlock {
  const ordinal = newAlias();
  const numbering: Definition = { kind: "ordinal", alias: ordinal, orderBy: ordered.orderBy };
  const byOrdinal: BoundSortKey = {
    identifier: ordinal,
    isNullable: false,
    direction: "ascending",
    nulls: "last",
  };
  const numbered = nest({ ...ordered, definitions: [numbering], orderBy: [byOrdinal] });
  const sections = calls.map(({ restart }) =>
    restart === null ? null : section(restart, numbered, ordinal, newAlias()),
  );
  const sectioned = sections.filter((found) => found !== null);
  const block =
    sectioned.length === 0
      ? numbered
      : nest({ ...numbered, definitions: sectioned, hidden: sectioned.map(({ alias }) => alias) });
  const bindings = new Map(block.bindings);
  const definitions = calls.map((call, i): Definition => {
    const alias = newAlias();
    const binding: Binding = aliasBinding(call.type, alias);
    bindings.set(call.name, binding);
    return {
      kind: "window",
      alias,
      call,
      bindings: block.bindings,
      ordinal,
      section: sections[i]?.alias ?? null,
    };
  });
  return nest({ ...block, definitions, bindings });
}

function section(restart: Expression, { bindings }: SelectBlock, ordinal: string, alias: string): Definition {
  return { kind: "section", alias, restart: { expression: restart, bindings }, ordinal };
}
