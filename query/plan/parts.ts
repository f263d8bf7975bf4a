import type { Expression } from "../expression.ts";
import { unreachable } from "../unreachable.ts";
import type { NamedExpression, Relation } from "./relation.ts";

/** What becomes of the parts of a node. Columns, names and types stay what they are. */
export interface PartsMapper {
  relation(part: Relation): Relation;
  expression(part: Expression): Expression;
}

/** The relation over what the mapper makes of the relations and expressions right below it. */
export function mapRelationParts(relation: Relation, mapper: PartsMapper): Relation {
  const expression = (part: Expression): Expression => mapper.expression(part);
  const named = (part: NamedExpression): NamedExpression => ({
    ...part,
    expression: expression(part.expression),
  });
  switch (relation.kind) {
    case "scan":
    case "guardedScan":
    case "keptScan":
    case "guardedKeptScan":
      return relation;
    case "values":
      return { ...relation, rows: relation.rows.map((row) => row.map(expression)) };
    case "series":
      return { ...relation, start: expression(relation.start), step: expression(relation.step) };
    case "join":
      return { ...relation, left: mapper.relation(relation.left), right: mapper.relation(relation.right) };
    case "union":
      return { ...relation, inputs: relation.inputs.map((input) => mapper.relation(input)) };
    case "filter": {
      const input = mapper.relation(relation.input);
      return { ...relation, input, predicate: expression(relation.predicate) };
    }
    case "extend":
    case "project": {
      const input = mapper.relation(relation.input);
      return { ...relation, input, assignments: relation.assignments.map(named) };
    }
    case "sort": {
      const keys = relation.keys.map((key) => ({ ...key, expression: expression(key.expression) }));
      return { ...relation, input: mapper.relation(relation.input), keys };
    }
    case "limit":
      return { ...relation, input: mapper.relation(relation.input) };
    case "aggregate": {
      const aggregates = relation.aggregates.map((call) => ({
        ...call,
        operands: call.operands.map(expression),
      }));
      return {
        ...relation,
        input: mapper.relation(relation.input),
        keys: relation.keys.map(named),
        aggregates,
      };
    }
    case "expand": {
      const expansions = relation.expansions.map(named);
      return { ...relation, input: mapper.relation(relation.input), expansions };
    }
    case "window": {
      const calls = relation.calls.map((call) => ({
        ...call,
        operands: call.operands.map(expression),
        restart: call.restart === null ? null : expression(call.restart),
      }));
      return { ...relation, input: mapper.relation(relation.input), calls };
    }
    default:
      return unreachable(relation);
  }
}

/** The expression over what the mapper makes of the relations and expressions right below it; itself where nothing changes. */
export function mapExpressionParts(expression: Expression, mapper: PartsMapper): Expression {
  switch (expression.kind) {
    case "column":
    case "attribute":
    case "literal":
      return expression;
    case "scalarSubquery":
      return { ...expression, relation: mapper.relation(expression.relation) };
    case "inSubquery":
      return {
        ...expression,
        operand: mapper.expression(expression.operand),
        relation: mapper.relation(expression.relation),
      };
    case "call": {
      const operands = expression.operands.map((operand) => mapper.expression(operand));
      return operands.every((operand, i) => operand === expression.operands[i])
        ? expression
        : { ...expression, operands };
    }
    default:
      return unreachable(expression);
  }
}
