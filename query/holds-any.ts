import { callOverload } from "./call.ts";
import { type Call, type Expression, literal } from "./expression.ts";
import { overload, parameter } from "./functions/definition.ts";

const HOLDS_ANY = overload(
  [parameter("text", "string"), parameter("literal", "string")],
  "bool",
  "never",
  (call) => {
    const [, ...literals] = call.operands;
    const texts = literals.flatMap((each) => (each.kind === "literal" ? [String(each.value)] : []));
    return `multiSearchAny(${call.operand(0)}, ${call.stringArray(texts)})`;
  },
);

/** Whether a text holds one of the literals, byte for byte: one pass for all of them. No query can name it. */
export function holdsAny(text: Expression, literals: readonly [string, ...string[]]): Call {
  return callOverload("holdsAny", HOLDS_ANY, [text, ...literals.map((each) => literal("string", each))]);
}
