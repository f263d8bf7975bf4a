import { column } from "../expression.ts";
import type {
  Expand,
  GuardedKeptScan,
  Join,
  Limit,
  NamedExpression,
  Relation,
  Sort,
  Union,
} from "../plan/relation.ts";
import { hasSqlNull } from "../scalar-type.ts";
import { TABLES } from "../schema.ts";
import {
  aliasBinding,
  type Binding,
  bindingOf,
  identifiersOf,
  onlyIdentifier,
  storedBinding,
  stringBinding,
} from "./binding.ts";
import {
  assignColumn,
  bindingsOf,
  type DefinedColumn,
  defineOrder,
  definitionsOf,
} from "./defined-column.ts";
import {
  type BoundSortKey,
  blockOver,
  type Definition,
  isOpen,
  nest,
  opened,
  type SelectBlock,
  type Source,
} from "./select-block.ts";
import { holdsStrings } from "./short-forms.ts";
import { splitAggregate } from "./split-aggregate.ts";
import { splitWindow } from "./split-window.ts";

/**
 * Splits plans of one statement into SELECTs. An operator joins the SELECT of its input where ClickHouse's order of
 * clauses (expand, filter, group, window, sort, limit) means the same, and otherwise starts a new one around it.
 */
export class PlanSplitter {
  #aliasCount = 0;
  readonly #nextAlias = (): string => this.#newAlias();

  split(relation: Relation): SelectBlock {
    switch (relation.kind) {
      case "scan":
      case "keptScan":
        throw new TypeError("a scan that is not guarded");
      case "guardedScan": {
        const { files, attributeColumns } = relation.scope;
        const columns = files === undefined ? attributeColumns : undefined;
        const bindings = TABLES[relation.table].columns.map((column): [string, Binding] => [
          column.name,
          storedBinding(column, columns),
        ]);
        return blockOver({ kind: "table", scan: relation }, new Map(bindings));
      }
      case "guardedKeptScan":
        return this.#kept(relation);
      case "values": {
        const columns = relation.columns.map(({ name, type }, i) => ({
          name,
          alias: this.#newAlias(),
          type,
          cells: relation.rows.flatMap(({ [i]: cell }) =>
            cell === undefined ? [] : [{ expression: cell, bindings: new Map() }],
          ),
        }));
        const bindings = columns.map(({ name, type, alias }): [string, Binding] => [
          name,
          aliasBinding(type, alias),
        ]);
        return blockOver({ kind: "values", columns, rowCount: relation.rows.length }, new Map(bindings));
      }
      case "series": {
        const [column] = relation.columns;
        if (column === undefined) throw new TypeError("a series has one column");
        const alias = this.#newAlias();
        const [start, step] = [relation.start, relation.step].map((expression) => ({
          expression,
          bindings: new Map(),
        }));
        if (start === undefined || step === undefined) throw new TypeError("a series has a start and a step");
        return blockOver(
          { kind: "series", alias, start, step, count: relation.count },
          new Map([[column.name, aliasBinding(column.type, alias)]]),
        );
      }
      case "filter": {
        const block = opened(this.split(relation.input));
        return {
          ...block,
          where: [...block.where, { expression: relation.predicate, bindings: block.bindings }],
        };
      }
      case "extend":
        return this.#assign(relation.input, relation.assignments, "extend");
      case "project":
        return this.#assign(relation.input, relation.assignments, "project");
      case "sort":
        return this.#sort(relation);
      case "limit":
        return this.#limit(relation);
      case "aggregate":
        return splitAggregate(opened(this.split(relation.input)), relation, this.#nextAlias);
      case "join":
        return this.#join(relation);
      case "union":
        return this.#union(relation);
      case "expand":
        return this.#expand(relation);
      case "window":
        return splitWindow(nest(this.split(relation.input)), relation.calls, this.#nextAlias);
    }
  }

  #kept(scan: GuardedKeptScan): SelectBlock {
    const cells = scan.columns.map(({ name, type }, i) => {
      const alias = this.#newAlias();
      const definition: Definition = { kind: "cell", alias, place: i + 1, type };
      return { name, binding: aliasBinding(type, alias), definition };
    });
    const block = blockOver({ kind: "table", scan }, new Map(bindingsOf(cells)));
    return { ...block, definitions: definitionsOf(cells) };
  }

  #assign(input: Relation, assignments: readonly NamedExpression[], mode: "extend" | "project"): SelectBlock {
    const inner = this.split(input);
    const isPlain = assignments.every(({ expression }) => expression.kind === "column");
    const block = inner.groupBy === null || isPlain ? inner : nest(inner);
    const defined = assignments.map((assignment) =>
      assignColumn(assignment, block.bindings, this.#nextAlias),
    );
    return {
      ...block,
      definitions: [...block.definitions, ...definitionsOf(defined)],
      bindings: new Map([...(mode === "extend" ? block.bindings : []), ...bindingsOf(defined)]),
    };
  }

  #sort({ input, keys }: Sort): SelectBlock {
    const inner = this.split(input);
    if (keys.length === 0) return inner;
    const isCut = inner.maxRows !== null || inner.limitPer !== null;
    const isPlain = keys.every(({ expression }) => expression.kind === "column");
    const block = isCut || (inner.groupBy !== null && !isPlain) ? nest(inner) : inner;
    const defined = keys.map(({ expression }) => defineOrder(expression, block.bindings, this.#nextAlias));
    const orderBy = defined.map(({ binding }, i): BoundSortKey => {
      const { expression, direction = "descending", nulls } = keys[i] ?? {};
      return {
        identifier: onlyIdentifier(binding),
        isNullable: expression?.isNullable ?? true,
        direction,
        nulls: nulls ?? (direction === "ascending" ? "first" : "last"),
      };
    });
    return { ...block, definitions: [...block.definitions, ...definitionsOf(defined)], orderBy };
  }

  #limit({ input, maxRows, per }: Limit): SelectBlock {
    const inner = this.split(input);
    if (per.length === 0) return { ...inner, maxRows: Math.min(inner.maxRows ?? maxRows, maxRows) };
    const block = inner.maxRows === null && inner.limitPer === null ? inner : nest(inner);
    const identifiers = per.flatMap((name) => identifiersOf(bindingOf(block.bindings, name)));
    return { ...block, limitPer: { maxRows, identifiers } };
  }

  #join({ joinKind, left, right, on, leftNames, rightNames }: Join): SelectBlock {
    const sides = { left: this.#sealed(this.split(left)), right: this.#sealed(this.split(right)) };
    const pairs = on.map((pair) => ({
      left: onlyIdentifier(bindingOf(sides.left.bindings, pair.left)),
      right: onlyIdentifier(bindingOf(sides.right.bindings, pair.right)),
      type: bindingOf(sides.left.bindings, pair.left).type,
      isNullable: isNullableColumn(left, pair.left) && isNullableColumn(right, pair.right),
    }));
    const defined = [
      ...this.#joined(sides.left, leftNames, joinKind === "right" || joinKind === "full"),
      ...this.#joined(sides.right, rightNames, joinKind === "left" || joinKind === "full"),
    ];
    const source: Source = { kind: "join", joinKind, ...sides, on: pairs };
    return { ...blockOver(source, new Map(bindingsOf(defined))), definitions: definitionsOf(defined) };
  }

  #joined(side: SelectBlock, names: ReadonlyMap<string, string>, isFilled: boolean): DefinedColumn[] {
    return [...names].map(([from, name]) => {
      const binding = bindingOf(side.bindings, from);
      // Maps and arrays are empty where a side is filled; of the others, only those without NULL need to be told.
      if (!isFilled || hasSqlNull(binding.type) || binding.storage.kind === "bag")
        return { name, binding, definition: null };
      const alias = this.#newAlias();
      const definition: Definition = { kind: "filled", alias, identifier: onlyIdentifier(binding) };
      return { name, binding: aliasBinding(binding.type, alias), definition };
    });
  }

  /** The block with names for its columns that are unique in the statement, for a SELECT over several blocks. */
  #sealed(block: SelectBlock): SelectBlock {
    const open = block.maxRows === null && block.limitPer === null ? { ...block, orderBy: [] } : block;
    const outputs = [...block.bindings].map(([name, { type, storage }]): [string, Binding] => [
      name,
      storage.kind === "bag" ? this.#newBag() : aliasBinding(type, this.#newAlias()),
    ]);
    return this.#renamed(open.groupBy === null ? open : nest(open), outputs);
  }

  #renamed(block: SelectBlock, outputs: readonly [string, Binding][]): SelectBlock {
    const definitions = outputs.flatMap(([name, output]): Definition[] => {
      const input = bindingOf(block.bindings, name);
      if (output.storage.kind === "bag" && input.storage.kind === "bag")
        return [
          { kind: "renamed", alias: output.storage.column, identifier: input.storage.column },
          { kind: "renamed", alias: output.storage.jsonKeysColumn, identifier: input.storage.jsonKeysColumn },
        ];
      const expression = column(name, input.type);
      return [
        { kind: "scalar", alias: onlyIdentifier(output), value: { expression, bindings: block.bindings } },
      ];
    });
    return { ...block, definitions: [...block.definitions, ...definitions], bindings: new Map(outputs) };
  }

  #union({ inputs, columns }: Union): SelectBlock {
    const blocks = inputs.map((input) => this.split(input));
    const outputs = columns.map(({ name, type }): [string, Binding] => {
      const isBag = blocks.every((block) => bindingOf(block.bindings, name).storage.kind === "bag");
      return [name, isBag ? this.#newBag() : aliasBinding(type, this.#newAlias())];
    });
    const branches = blocks.map((block) => {
      const open = isOpen(block) ? { ...block, orderBy: [] } : { ...nest(block), orderBy: [] };
      return this.#renamed(open, outputs);
    });
    return blockOver({ kind: "union", branches }, new Map(outputs));
  }

  #expand({ input, expansions, indexName, maxElements, members }: Expand): SelectBlock {
    const block = nest(this.split(input));
    const expanded = expansions.map(({ name, expression }) => ({
      name,
      alias: this.#newAlias(),
      value: { expression, bindings: block.bindings },
      // Beside others, the shorter arrays are filled with nothing, which is no string.
      isOfTexts: expansions.length === 1 && holdsStrings(expression, block.bindings),
    }));
    const index = indexName === null ? null : this.#newAlias();
    const bindings = new Map(block.bindings);
    for (const { name, alias, isOfTexts } of expanded)
      bindings.set(name, isOfTexts ? stringBinding("text", alias) : aliasBinding("dynamic", alias));
    if (indexName !== null && index !== null) bindings.set(indexName, aliasBinding("long", index));
    return {
      ...block,
      expansions: expanded,
      expansionIndex: index,
      expansionMax: maxElements,
      expansionMembers: members,
      bindings,
    };
  }

  #newAlias(): string {
    return `c${this.#aliasCount++}`;
  }

  #newBag(): Binding {
    return {
      type: "dynamic",
      storage: { kind: "bag", column: this.#newAlias(), jsonKeysColumn: this.#newAlias() },
    };
  }
}

function isNullableColumn(relation: Relation, name: string): boolean {
  return relation.columns.some((candidate) => candidate.name === name && candidate.isNullable);
}
