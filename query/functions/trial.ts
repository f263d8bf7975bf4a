import type { Call } from "../expression.ts";
import type { CallWriter } from "./definition.ts";

/** A writer whose text nobody reads: it finds out whether a call can be written at all. */
export function trialWriter({ operands, type }: Pick<Call, "operands" | "type">): CallWriter {
  const text = () => "x";
  return {
    operands,
    type,
    operand: text,
    sharedOperand: text,
    textOperand: text,
    storedOperand: text,
    enumOperand: () => undefined,
    bagParts: () => undefined,
    wordsOperand: () => undefined,
    conditionOperand: text,
    numberOperand: () => undefined,
    stringArray: text,
    share: text,
    shareOfGroup: text,
    step: text,
    parameter: text,
  };
}
