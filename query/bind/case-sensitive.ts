import { type Expression, STRING_OPERATORS, type StringOperator } from "../syntax/tree.ts";
import { refuse } from "./refusal.ts";

/** The condition of `search kind=case_sensitive`: every string operator in it tells the case of letters apart. */
export function caseSensitive(expression: Expression): Expression {
  switch (expression.kind) {
    case "fieldSearch":
      return { ...expression, isCaseSensitive: true };
    case "binary": {
      const { operator, left, right } = expression;
      if (operator === "=~" || operator === "!~") return withoutForm(expression, operator);
      return {
        ...expression,
        operator: sensitiveForm(operator) ?? operator,
        left: caseSensitive(left),
        right: caseSensitive(right),
      };
    }
    case "list": {
      const { operator } = expression;
      return operator === "in" || operator === "!in" ? expression : withoutForm(expression, operator);
    }
    case "call": {
      const { arguments: args } = expression;
      return {
        ...expression,
        arguments: args.map((argument) => ({ ...argument, value: caseSensitive(argument.value) })),
      };
    }
    default:
      return expression;
  }
}

function sensitiveForm(operator: string): StringOperator | undefined {
  return STRING_OPERATORS.find((other) => other === `${operator}_cs`);
}

function withoutForm({ span }: Expression, operator: string): never {
  return refuse(
    "UNSUPPORTED",
    `${operator} has no case-sensitive form for search kind=case_sensitive.`,
    span,
  );
}
