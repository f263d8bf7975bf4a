import type { Expression } from "../expression.ts";
import { TABLES } from "../schema.ts";
import { ALL_TIME, commonTime, type TimeRange } from "../time-range.ts";
import { mapExpressionParts, mapRelationParts, type PartsMapper } from "./parts.ts";
import type { Relation } from "./relation.ts";

/**
 * The time outside of which no entry of the logs changes what the plan answers, as far as its conditions on the time of
 * rows say so before anything looks at several rows together; null when it reads none at all.
 */
export function scannedTime(plan: Relation): TimeRange | null {
  let scanned: TimeRange | null = null;
  const visit = (relation: Relation, within: TimeRange | null): void => {
    if (relation.kind === "scan" || relation.kind === "guardedScan") {
      if (relation.table === "logs") scanned = hull(scanned, within);
      return;
    }
    const own =
      relation.kind === "filter" ? boundedBy(relation.predicate, timeColumnOf(relation.input)) : ALL_TIME;
    const below = judgesRowsApart(relation) ? intersection(within, own) : ALL_TIME;
    const visitor: PartsMapper = {
      relation: (part) => {
        visit(part, below);
        return part;
      },
      expression: (part) => mapExpressionParts(part, subqueries),
    };
    mapRelationParts(relation, visitor);
  };
  const subqueries: PartsMapper = {
    relation: (part) => {
      visit(part, ALL_TIME);
      return part;
    },
    expression: (part) => mapExpressionParts(part, subqueries),
  };
  visit(plan, ALL_TIME);
  return scanned;
}

/** Nodes never change, and every condition above a scan asks for the same ones. */
const known = new WeakMap<Relation, string | null>();

/** The column that holds the time of the stored row that a row was made of; null where there is none. */
function timeColumnOf(relation: Relation): string | null {
  const before = known.get(relation);
  if (before !== undefined) return before;
  const name = findTimeColumn(relation);
  known.set(relation, name);
  return name;
}

function findTimeColumn(relation: Relation): string | null {
  switch (relation.kind) {
    case "scan":
    case "guardedScan": {
      const { timeColumn, columns } = TABLES[relation.table];
      return columns.find(({ storage }) => storage.column === timeColumn)?.name ?? null;
    }
    case "filter":
    case "sort":
      return timeColumnOf(relation.input);
    case "extend": {
      const name = timeColumnOf(relation.input);
      return relation.assignments.some((assigned) => assigned.name === name) ? null : name;
    }
    case "project": {
      const name = timeColumnOf(relation.input);
      const kept = relation.assignments.find(
        ({ expression }) => expression.kind === "column" && expression.name === name,
      );
      return kept?.name ?? null;
    }
    default:
      return null;
  }
}

/** Whether a condition above it means the same below it. */
function judgesRowsApart(relation: Relation): boolean {
  return timeColumnOf(relation) !== null;
}

/** What a condition says of the time in a column, its alternatives left aside. */
function boundedBy(condition: Expression, name: string | null): TimeRange | null {
  if (condition.kind !== "call" || name === null) return ALL_TIME;
  if (condition.name === "and")
    return condition.operands.reduce<TimeRange | null>(
      (range, operand) => intersection(range, boundedBy(operand, name)),
      ALL_TIME,
    );
  const [left, right] = condition.operands;
  const time = timeIn(right);
  if (left?.kind === "column" && left.name === name && time !== null) return rangeOf(condition.name, time);
  const turned = timeIn(left);
  if (right?.kind !== "column" || right.name !== name || turned === null) return ALL_TIME;
  return rangeOf(TURNED[condition.name] ?? "", turned);
}

function timeIn(expression: Expression | undefined): bigint | null {
  return expression?.kind === "literal" && expression.type === "datetime" ? expression.value : null;
}

const TURNED: Readonly<Record<string, string>> = {
  equal: "equal",
  less: "greater",
  lessOrEqual: "greaterOrEqual",
  greater: "less",
  greaterOrEqual: "lessOrEqual",
};

/** Both ends belong to a range: of a strict comparison it holds one time too many. */
function rangeOf(comparison: string, time: bigint): TimeRange {
  switch (comparison) {
    case "equal":
      return { from: time, to: time };
    case "less":
    case "lessOrEqual":
      return { from: null, to: time };
    case "greater":
    case "greaterOrEqual":
      return { from: time, to: null };
    default:
      return ALL_TIME;
  }
}

/** Null is no time at all. */
function intersection(left: TimeRange | null, right: TimeRange | null): TimeRange | null {
  return left === null || right === null ? null : commonTime(left, right);
}

function hull(left: TimeRange | null, right: TimeRange | null): TimeRange | null {
  if (left === null || right === null) return left ?? right;
  const isEarlier = left.from === null || (right.from !== null && left.from < right.from);
  const isLater = left.to === null || (right.to !== null && left.to > right.to);
  return { from: isEarlier ? left.from : right.from, to: isLater ? left.to : right.to };
}
