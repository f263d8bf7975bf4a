import type { Expression } from "../expression.ts";
import { mapExpressionParts, mapRelationParts, type PartsMapper } from "./parts.ts";
import type { Relation } from "./relation.ts";

/** What a part of a plan comes to wherever it is mentioned: parts that several mention are written out for each. */
interface Weight {
  /** Relations and expressions. */
  readonly nodes: number;
  /** Tables read. */
  readonly scans: number;
}

const STORED: ReadonlySet<string> = new Set<Relation["kind"]>([
  "scan",
  "guardedScan",
  "keptScan",
  "guardedKeptScan",
]);

/** Nodes never change, and `let` makes many of few: each is weighed once. */
const known = new WeakMap<Relation | Expression, Weight>();

export function weightOf(node: Relation | Expression): Weight {
  const before = known.get(node);
  if (before !== undefined) return before;
  let nodes = 1;
  let scans = STORED.has(node.kind) ? 1 : 0;
  const add = <T extends Relation | Expression>(part: T): T => {
    const weight = weightOf(part);
    nodes += weight.nodes;
    scans += weight.scans;
    return part;
  };
  const adder: PartsMapper = { relation: add, expression: add };
  if (isExpression(node)) mapExpressionParts(node, adder);
  else mapRelationParts(node, adder);
  const weight = { nodes, scans };
  known.set(node, weight);
  return weight;
}

function isExpression(node: Relation | Expression): node is Expression {
  return !("columns" in node);
}
