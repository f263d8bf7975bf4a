import { callOverload } from "./call.ts";
import type { Call, Expression, InSubquery } from "./expression.ts";
import { literal } from "./expression.ts";
import { constant, overload, parameter, sql } from "./functions/definition.ts";
import { aggregateOverload } from "./plan/build.ts";
import type { AggregateCall, Relation } from "./plan/relation.ts";

/**
 * What log patterns are counted by, in the store: numbers that messages alike have in common, and what to keep of those
 * that have one. No query can name any of it.
 */

/**
 * 64 bits that are the same for messages which differ in their words with digits alone. Before its first digit a word
 * has no digit: said so, the expression needs no backtracking and takes a quarter of the time.
 */
const FORM = overload(
  [parameter("message", "string")],
  "long",
  "never",
  sql`toInt64(cityHash64(replaceRegexpAll(${0}, '[A-Za-z_]*[0-9][0-9A-Za-z_]*', '0')))`,
);

/** What stands between the words of a message. */
const SHAPE = sql`substring(replaceRegexpAll(${0}, '[0-9A-Za-z_.:/-]+', ''), 1, 64)`;
/** The first word of a message. */
const SUBJECT = sql`extract(${0}, '[A-Za-z]+')`;

/** Numbers that fewer and fewer kinds of messages differ in. */
const KINDS = {
  shapeAndSubject: overload([parameter("message", "string")], "long", "never", (call) => {
    const message = call.sharedOperand(0);
    const once = { ...call, operand: () => message };
    return `toInt64(cityHash64(${SHAPE(once)}, ${SUBJECT(once)}))`;
  }),
  shape: overload(
    [parameter("message", "string")],
    "long",
    "never",
    (call) => `toInt64(cityHash64(${SHAPE(call)}))`,
  ),
  subject: overload(
    [parameter("message", "string")],
    "long",
    "never",
    (call) => `toInt64(cityHash64(${SUBJECT(call)}))`,
  ),
};

export type MessageKind = keyof typeof KINDS;

/** One division of a number that is not negative: a time is moved behind all others by as many buckets as that takes. */
const TIME_BUCKET = overload(
  [
    parameter("time", "datetime"),
    constant("moved", "long"),
    constant("width", "long"),
    constant("buckets", "long"),
  ],
  "long",
  "never",
  sql`minus(toInt64(intDiv(toUInt64(toUnixTimestamp64Nano(${0}) + ${1}), toUInt64(${2}))), ${3})`,
);

const DIFFERENT_VALUES = overload([parameter("value", "long")], "long", "never", sql`toInt64(uniq(${0}))`);

const COUNTS = overload(
  [parameter("value", "any"), constant("maxValues", "long")],
  "dynamic",
  "never",
  (call) => {
    const counts = call.shareOfGroup(`sumMap([${call.storedOperand(0)}], [toUInt64(1)])`);
    const pairs = `arrayReverseSort(x -> tuple(x.2, x.1), arrayZip(${counts}.1, ${counts}.2))`;
    return `toJSONString(arraySlice(${pairs}, 1, ${call.operand(1)}))`;
  },
);

const MOST_FREQUENT = overload(
  [parameter("value", "string"), parameter("count", "long"), constant("maxValues", "long")],
  "dynamic",
  "never",
  (call) => {
    const pairs = `arrayReverseSort(x -> tuple(x.2, x.1), groupArray(tuple(${call.operand(0)}, ${call.operand(1)})))`;
    return `toJSONString(arraySlice(${pairs}, 1, ${call.operand(2)}))`;
  },
);

function text(aggregation: (message: string) => string) {
  return overload(
    [parameter("message", "string"), constant("maxChars", "long")],
    "string",
    "never",
    (call) => `leftUTF8(${aggregation(call.sharedOperand(0))}, ${call.operand(1)})`,
  );
}

const TEXTS = {
  least: text((message) => `min(${message})`),
  greatest: text((message) => `max(${message})`),
  /** Whichever, but the same one every time. */
  arbitrary: text((message) => `argMin(${message}, cityHash64(${message}))`),
};

/** The number of a message's form. */
export function messageForm(message: Expression): Call {
  return callOverload("messageForm", FORM, [message]);
}

/** The number of a message's kind; there are fewer kinds than forms. */
export function messageKind(kind: MessageKind, message: Expression): Call {
  return callOverload(kind, KINDS[kind], [message]);
}

/** Which of the equal lengths of time from `startNs` on a time is in, from 0; negative before. */
export function timeBucket(time: Expression, startNs: bigint, widthNs: bigint): Call {
  const buckets = (2n ** 63n - 1n) / widthNs;
  // What is beyond 64 bits comes round, in the sum of it and a time as well.
  const moved = BigInt.asIntN(64, buckets * widthNs - startNs);
  const constants = [moved, widthNs, buckets].map((value) => literal("long", value));
  return callOverload("timeBucket", TIME_BUCKET, [time, ...constants]);
}

/** Whether a value is among those of the only column of a relation. */
export function isAmong(operand: Expression, relation: Relation): InSubquery {
  return { kind: "inSubquery", operand, relation, type: "bool", isNullable: false };
}

/** How many different values there are: exact up to some thousands, about right beyond, in little memory. */
export function differentValues(name: string, value: Expression): AggregateCall {
  return aggregateOverload(name, "differentValues", DIFFERENT_VALUES, [value]);
}

/** The most frequent values with their counts, as JSON: `[["a", 2], ["b", 1]]`. */
export function countsPerValue(name: string, value: Expression, maxValues: number): AggregateCall {
  return aggregateOverload(name, "countsPerValue", COUNTS, [value, literal("long", BigInt(maxValues))]);
}

/**
 * The same from values that are counted already, a row each. Counting by groups takes a tenth of the time, where there
 * is one field to count by.
 */
export function mostFrequent(
  name: string,
  value: Expression,
  count: Expression,
  maxValues: number,
): AggregateCall {
  const operands = [value, count, literal("long", BigInt(maxValues))];
  return aggregateOverload(name, "mostFrequent", MOST_FREQUENT, operands);
}

/** One of the texts, cut after so many characters. */
export function oneText(
  name: string,
  which: keyof typeof TEXTS,
  message: Expression,
  maxChars: number,
): AggregateCall {
  return aggregateOverload(name, which, TEXTS[which], [message, literal("long", BigInt(maxChars))]);
}
