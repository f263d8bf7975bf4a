import { KEPT_ROWS } from "../kept.ts";
import { EACH_ORGANIZATION, type MadeEntries } from "../plan/relation.ts";
import { TABLES } from "../schema.ts";
import { datetimeConstant } from "./expression-writer.ts";
import type { Parameters } from "./parameters.ts";
import type { StoredScan } from "./select-block.ts";

/** The bits of an id that say which server made it. */
const MADE_BY_MASK = 1023;

/** The conditions by which a table gives the rows of its scope alone: of one organisation, first of all. */
export function restriction(parameters: Parameters, scan: StoredScan): readonly string[] {
  if (scan.kind === "guardedKeptScan")
    return [
      `${KEPT_ROWS.organizationColumn} = ${parameters.add("UInt32", String(scan.organizationId))}`,
      `${KEPT_ROWS.rowsIdColumn} = ${parameters.add("UInt64", scan.table.rowsId)}`,
    ];
  const { organizationId, timeRange, made } = scan.scope;
  const table = TABLES[scan.table];
  const from = timeRange.from === null ? null : datetimeConstant(parameters, timeRange.from);
  const to = timeRange.to === null ? null : datetimeConstant(parameters, timeRange.to);
  return [
    // Nobody's is 0: whoever reads everybody's rows says so with a condition, too.
    organizationId === EACH_ORGANIZATION
      ? `${table.organizationColumn} != 0`
      : `${table.organizationColumn} = ${parameters.add("UInt32", String(organizationId))}`,
    ...(from === null ? [] : [`${table.timeColumn} >= ${from}`]),
    ...(to === null ? [] : [`${table.timeColumn} <= ${to}`]),
    ...(made === undefined ? [] : [madeBy(parameters, made, table.idColumn)]),
  ];
}

function madeBy(parameters: Parameters, { are, spans }: MadeEntries, id: string): string {
  const inSpans = spans.map(({ instance, after, through }) => {
    const bounds = [
      `bitAnd(${id}, ${MADE_BY_MASK}) = ${parameters.add("UInt32", String(instance))}`,
      `${id} > ${parameters.add("UInt64", String(after))}`,
      ...(through === null ? [] : [`${id} <= ${parameters.add("UInt64", String(through))}`]),
    ];
    return `(${bounds.join(" AND ")})`;
  });
  const inAny = inSpans.length === 0 ? "false" : inSpans.join(" OR ");
  return are === "in" ? `(${inAny})` : `NOT (${inAny})`;
}
