import type { Expression } from "../expression.ts";
import type { Aggregate, NamedExpression, Relation, Sort } from "../plan.ts";
import { TABLES } from "../schema.ts";
import {
  aliasBinding,
  type Binding,
  type Bindings,
  bindingOf,
  identifiersOf,
  storedBinding,
} from "./binding.ts";
import type { Definition, SelectBlock } from "./select-block.ts";

/**
 * Splits a plan into SELECTs. An operator joins the SELECT of its input where ClickHouse's order of clauses (filter,
 * group, sort, limit) means the same, and otherwise starts a new one around it.
 */
export function splitPlan(relation: Relation): SelectBlock {
  return new PlanSplitter().split(relation);
}

interface DefinedColumn {
  readonly name: string;
  readonly binding: Binding;
  /** Null when the name merely stands for something that is in reach already. */
  readonly definition: Definition | null;
}

class PlanSplitter {
  #aliasCount = 0;

  split(relation: Relation): SelectBlock {
    switch (relation.kind) {
      case "scan":
        return blockOver(
          TABLES[relation.table],
          new Map(TABLES[relation.table].columns.map((schema) => [schema.name, storedBinding(schema)])),
        );
      case "filter": {
        const block = this.#ungroupedInput(relation.input);
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
      case "limit": {
        const block = this.split(relation.input);
        return { ...block, maxRows: Math.min(block.maxRows ?? relation.maxRows, relation.maxRows) };
      }
      case "aggregate":
        return this.#aggregate(relation);
    }
  }

  #assign(input: Relation, assignments: readonly NamedExpression[], mode: "extend" | "project"): SelectBlock {
    const inner = this.split(input);
    const block = inner.groupBy === null || assignments.every(isReference) ? inner : nest(inner);
    const defined = assignments.map((assignment) => this.#define(assignment, block.bindings));
    return {
      ...block,
      definitions: [...block.definitions, ...definitionsOf(defined)],
      bindings: new Map([...(mode === "extend" ? block.bindings : []), ...bindingsOf(defined)]),
    };
  }

  #sort({ input, keys }: Sort): SelectBlock {
    const inner = this.split(input);
    const block = inner.maxRows === null ? inner : nest(inner);
    const orderBy = keys.map(({ expression, direction }) => ({
      value: { expression, bindings: block.bindings },
      direction,
    }));
    return { ...block, orderBy };
  }

  #aggregate({ input, keys, aggregates }: Aggregate): SelectBlock {
    const inner = this.#ungroupedInput(input);
    const block = inner.orderBy.length === 0 ? inner : nest(inner);
    const groups = keys.map((key) => this.#define(key, block.bindings));
    const calls = aggregates.map((call): DefinedColumn => {
      const alias = this.#newAlias();
      const definition: Definition = { kind: "aggregate", alias, call, bindings: block.bindings };
      return { name: call.name, binding: aliasBinding(call.type, alias), definition };
    });
    return {
      ...block,
      definitions: [...block.definitions, ...definitionsOf(groups), ...definitionsOf(calls)],
      groupBy: groups.flatMap(({ binding }) => identifiersOf(binding)),
      bindings: new Map([...bindingsOf(groups), ...bindingsOf(calls)]),
    };
  }

  /** The input as a block whose rows are still those of its source: neither grouped nor cut off. */
  #ungroupedInput(input: Relation): SelectBlock {
    const block = this.split(input);
    return block.groupBy === null && block.maxRows === null ? block : nest(block);
  }

  #define(assignment: NamedExpression, bindings: Bindings): DefinedColumn {
    const { name, expression } = assignment;
    return expression.kind === "column"
      ? { name, binding: bindingOf(bindings, expression.name), definition: null }
      : this.#compute(name, expression, bindings);
  }

  #compute(name: string, expression: Expression, bindings: Bindings): DefinedColumn {
    const alias = this.#newAlias();
    const definition: Definition = { kind: "scalar", alias, value: { expression, bindings } };
    return { name, binding: aliasBinding(expression.type, alias), definition };
  }

  #newAlias(): string {
    return `c${this.#aliasCount++}`;
  }
}

function blockOver(source: SelectBlock["source"], bindings: Bindings): SelectBlock {
  return { source, definitions: [], where: [], groupBy: null, orderBy: [], maxRows: null, bindings };
}

function nest(block: SelectBlock): SelectBlock {
  return blockOver(block, block.bindings);
}

function isReference({ expression }: NamedExpression): boolean {
  return expression.kind === "column";
}

function definitionsOf(columns: readonly DefinedColumn[]): Definition[] {
  return columns.flatMap(({ definition }) => (definition === null ? [] : [definition]));
}

function bindingsOf(columns: readonly DefinedColumn[]): [string, Binding][] {
  return columns.map(({ name, binding }) => [name, binding]);
}
