import { call } from "../call.ts";
import { type Expression, literal } from "../expression.ts";
import {
  aggregate,
  aggregateCall,
  columnOf,
  expand,
  extend,
  filter,
  join,
  keep,
  sort,
  window,
} from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { UniqueNames } from "./column-names.ts";
import { callNamed, convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

// Hidden columns: the prefix and the network of both sides, and the rows that may find nothing.
const LENGTH = "$length";
const NETWORK = "$network";
const ROW = "$lookupRow";

/**
 * `evaluate ipv4_lookup(table, address, network)`: the rows with the rows of a table of networks that their addresses
 * are in. Each address is looked for under each of the prefixes that the table has, which are few.
 */
export function bindIpv4Lookup(
  input: Relation,
  plugin: syntax.CallExpression,
  environment: Environment,
): Relation {
  const { span } = plugin;
  const [table, address, network, ...others] = plugin.arguments.filter(({ names }) => names.length === 0);
  if (table === undefined || address === undefined || network === undefined)
    return refuse(
      "WRONG_ARGUMENTS",
      "ipv4_lookup() takes a table, a column of addresses, and the table's column of networks.",
      span,
    );
  const [extra] = others.filter((argument, i) => i < others.length - 1 || argument.value.kind !== "literal");
  if (extra !== undefined)
    return refuse("UNSUPPORTED", "ipv4_lookup() takes no further columns here: join by them.", extra.span);
  const keepsUnmatched = unmatchedOf(plugin, others.at(-1), new ExpressionContext(environment, input));
  const networks = keyedNetworks(environment.table(table.value), network, environment);
  const lengths: Expression = {
    kind: "scalarSubquery",
    relation: aggregate(networks, [], [aggregateCall("lengths", "make_set", columnOf(networks, LENGTH))]),
    type: "dynamic",
    isNullable: false,
  };
  environment.mention(networks, span);
  const rows = keepsUnmatched ? numbered(input) : input;
  const source = new ExpressionContext(environment, rows).scalar(address.value);
  const tried = keepsUnmatched
    ? callNamed("array_concat", [lengths, literal("dynamic", "[-1]")], span)
    : lengths;
  const expanded = expand(extend(rows, [{ name: "$address", expression: text(source, address.span) }]), [
    { name: LENGTH, expression: tried },
  ]);
  const masked = callNamed(
    "parse_ipv4_mask",
    [columnOf(expanded, "$address"), convert(columnOf(expanded, LENGTH), "long")],
    span,
  );
  const keyed = extend(extend(expanded, [{ name: NETWORK, expression: masked }]), [
    { name: LENGTH, expression: convert(columnOf(expanded, LENGTH), "long") },
  ]);
  const looked = keepsUnmatched
    ? keyed
    : filter(keyed, callNamed("isnotnull", [columnOf(keyed, NETWORK)], span));
  return withNetworks(input, looked, networks, keepsUnmatched, span);
}

function unmatchedOf(
  plugin: syntax.CallExpression,
  last: syntax.Argument | undefined,
  context: ExpressionContext,
): boolean {
  const named = plugin.arguments.find(({ names }) => names.length > 0);
  if (named !== undefined && named.names[0]?.name !== "return_unmatched")
    return refuse("WRONG_ARGUMENTS", "ipv4_lookup() has one option: return_unmatched.", named.span);
  const given = named ?? last;
  return given !== undefined && context.constant(given.value).value === true;
}

/** The table with the prefix and the network of each row; rows without one find nothing. */
function keyedNetworks(table: Relation, network: syntax.Argument, environment: Environment): Relation {
  const key = text(new ExpressionContext(environment, table).scalar(network.value), network.span);
  const keyed = extend(table, [
    { name: LENGTH, expression: callNamed("ipv4_netmask_suffix", [key], network.span) },
    { name: NETWORK, expression: callNamed("parse_ipv4", [key], network.span) },
  ]);
  return filter(keyed, callNamed("isnotnull", [columnOf(keyed, NETWORK)], network.span));
}

function text(value: Expression, span: Span): Expression {
  if (value.type === "string" || value.type === "dynamic") return convert(value, "string");
  return refuse("WRONG_TYPE", `An address is a text, not a ${value.type}.`, span);
}

function numbered(input: Relation): Relation {
  const call = { function: "rowNumber", operands: [], offset: 0, restart: null, type: "long" } as const;
  return window(sort(input, []), [{ ...call, name: ROW }]);
}

/** The columns of the rows, then those of the networks; each row once at least where unmatched ones are kept. */
function withNetworks(
  input: Relation,
  left: Relation,
  right: Relation,
  keepsUnmatched: boolean,
  span: Span,
): Relation {
  const own = input.columns.map(({ name }) => name);
  const names = new UniqueNames(own);
  const hidden = new Set([LENGTH, NETWORK]);
  const found = right.columns
    .filter(({ name }) => !hidden.has(name))
    .map(({ name }): [string, string] => [name, names.claim(name)]);
  const carried = keepsUnmatched ? [...own, ROW] : own;
  const joined = join({
    joinKind: keepsUnmatched ? "left" : "inner",
    left,
    right,
    on: [LENGTH, NETWORK].map((name) => ({ left: name, right: name })),
    leftNames: new Map(carried.map((name) => [name, name])),
    rightNames: new Map([...found, [NETWORK, NETWORK]]),
  });
  const kept = keepsUnmatched ? onceAtLeast(joined, span) : joined;
  return keep(kept, [...own, ...found.map(([, name]) => name)]);
}

/** Of each row those that found something, or else the first of them. */
function onceAtLeast(joined: Relation, span: Span): Relation {
  const sorted = sort(joined, [
    { expression: columnOf(joined, ROW), direction: "ascending" },
    { expression: columnOf(joined, NETWORK), direction: "descending", nulls: "last" },
  ]);
  const before = window(sorted, [
    {
      name: "$before",
      function: "shift",
      operands: [columnOf(sorted, ROW)],
      offset: 1,
      restart: null,
      type: "long",
    },
  ]);
  const isOther = call("notEqual", columnOf(before, "$before"), columnOf(before, ROW));
  const counted = window(before, [
    { name: "$position", function: "rowNumber", operands: [], offset: 0, restart: isOther, type: "long" },
  ]);
  const isFound = callNamed("isnotnull", [columnOf(counted, NETWORK)], span);
  const isFirst = call("equal", columnOf(counted, "$position"), literal("long", 1n));
  return filter(counted, call("or", isFound, isFirst));
}
