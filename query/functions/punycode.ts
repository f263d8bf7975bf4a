import { type CallWriter, type FunctionTable, parameter, simple } from "./definition.ts";
import { characterOf, codePointOf } from "./encodings.ts";

// The constants of RFC 3492.
const BASE = 36;
const FIRST_BIAS = 72;
const FIRST_CODE_POINT = 128;
const DAMPING = 700;
const DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Characters of one label that are looked at: a label of a domain has 63 at most. */
const LABEL_MAX_CHARS = 256;
/** Digits of a number: of 256 characters none has more. */
const NUMBER_MAX_DIGITS = 8;
/** Beyond this a number is none that an encoder makes. */
const NUMBER_MAX = 2 ** 31;

/** What stands between the labels of a domain. */
const DOTS = "[.\u3002\uff0e\uff61]";

/** SQL in which a name stands for a value, which is computed once; it may stand in a lambda. */
function binding(name: string, value: string, body: string): string {
  return `arrayMap(${name} -> ${body}, [${value}])[1]`;
}

function charactersOf(text: string): string {
  return `extractAll(toValidUTF8(${text}), '(?s:.)')`;
}

function codesOf(text: string): string {
  return `arrayMap(ch -> toInt64(${codePointOf("ch")}), ${charactersOf(text)})`;
}

/** How the threshold moves behind a number: after the first one faster. */
function adapted(delta: string, points: string, isFirst: string): string {
  const damped = `intDiv(${delta}, if(${isFirst}, ${DAMPING}, 2))`;
  const scaled = (times: number) => `intDiv(dl, ${35 ** times})`;
  const steps = [0, 1, 2, 3, 4].map((times) => {
    return `${BASE * times} + intDiv(${BASE} * ${scaled(times)}, ${scaled(times)} + 38)`;
  });
  const found = steps.slice(0, -1).map((step, times) => `dl < ${456 * 35 ** times}, ${step}`);
  return binding(
    "dl",
    binding("dm", damped, `dm + intDiv(dm, greatest(${points}, 1))`),
    `toInt64(multiIf(${found.join(", ")}, ${steps.at(-1)}))`,
  );
}

/** The threshold of a digit. */
function threshold(position: string, bias: string): string {
  return `least(greatest(${position} - ${bias}, 1), 26)`;
}

/** The label of a text: its ASCII characters, and behind a hyphen what the others are and where. */
function encoded(text: string): string {
  const digit = (value: string) => `substring('${DIGITS}', ${value} + 1, 1)`;
  const limit = threshold(`${BASE} * at`, "bias");
  const number = `arrayFold((st, at) -> if(st.2 < 0, st, ${binding(
    "th",
    limit,
    `if(st.2 < th, (concat(st.1, ${digit("st.2")}), toInt64(-1)), ` +
      `(concat(st.1, ${digit(`(th + (st.2 - th) % (${BASE} - th))`)}), toInt64(intDiv(st.2 - th, ${BASE} - th))))`,
  )}), range(1, ${NUMBER_MAX_DIGITS + 1}), ('', toInt64(delta))).1`;
  const bias = `if(j = 1, toInt64(${FIRST_BIAS}), ${adapted("deltas[j - 1]", "basics + j - 1", "j = 2")})`;
  const numbers = `arrayMap((delta, j) -> ${binding("bias", bias, number)}, deltas, arrayEnumerate(deltas))`;
  const deltas =
    `arrayMap((x, p, j) -> toInt64((x.1 - if(j = 1, ${FIRST_CODE_POINT}, others[j - 1].1)) * (basics + j) ` +
    "+ p - if(j = 1, 0, places[j - 1] + 1)), others, places, arrayEnumerate(others))";
  const places =
    "arrayMap(x -> toInt64(arrayCount((c, k) -> k < x.2 AND c <= x.1, codes, arrayEnumerate(codes))), others)";
  const others = `arraySort(arrayFilter(x -> x.1 >= ${FIRST_CODE_POINT}, arrayZip(codes, arrayEnumerate(codes))))`;
  const plain = `arrayStringConcat(arrayFilter(ch -> length(ch) = 1, ${charactersOf(text)}))`;
  const rest = binding("deltas", deltas, `arrayStringConcat(${numbers})`);
  const whole = binding(
    "basics",
    `toInt64(arrayCount(c -> c < ${FIRST_CODE_POINT}, codes))`,
    `concat(if(basics = 0, '', concat(${plain}, '-')), ${binding("others", others, binding("places", places, rest))})`,
  );
  return `if(lengthUTF8(${text}) > ${LABEL_MAX_CHARS}, '', ${binding("codes", codesOf(text), whole)})`;
}

/** The text of a label; empty for one that no text has. */
function decoded(label: string): string {
  const state = "'Tuple(Array(Int64), Int64, Int64, Int64, Int64, Int64, Int64)'";
  const [out, point, index, bias, before, weight, position] = [1, 2, 3, 4, 5, 6, 7].map((i) => `st.${i}`);
  const at = `(ix % (toInt64(length(${out})) + 1))`;
  const count = `(toInt64(length(${out})) + 1)`;
  const next = `(${point} + intDiv(ix, ${count}))`;
  const inserted = `arrayConcat(arraySlice(${out}, 1, ${at}), [${next}], arraySlice(${out}, ${at} + 1))`;
  const ended = `(${inserted}, ${next}, ${at} + 1, ${adapted(`(ix - ${before})`, count, `${before} = 0`)}, ${at} + 1, 1, ${BASE})`;
  const going = `(${out}, ${point}, ix, ${bias}, ${before}, ${weight} * (${BASE} - th), ${position} + ${BASE})`;
  // A weight of nothing is of a text that is no label.
  const failed = `(${out}, ${point}, ${index}, ${bias}, ${before}, 0, ${position})`;
  const step = binding(
    "ix",
    `(${index} + dg * ${weight})`,
    binding(
      "th",
      threshold(position ?? "", bias ?? ""),
      `CAST(if(dg < 0 OR ${weight} = 0 OR ${weight} > ${NUMBER_MAX} OR ix > ${NUMBER_MAX}, ${failed}, ` +
        `if(dg < th, ${ended}, ${going})), ${state})`,
    ),
  );
  const digits = `arrayMap(ch -> toInt64(position('${DIGITS}', lower(ch))) - 1, ${charactersOf("tail")})`;
  const start = `CAST((${codesOf("head")}, ${FIRST_CODE_POINT}, 0, ${FIRST_BIAS}, 0, 1, ${BASE}), ${state})`;
  const text = `if(done.6 = 1 AND done.7 = ${BASE}, arrayStringConcat(arrayMap(x -> ${characterOf("x")}, done.1)), '')`;
  const folded = binding("done", `arrayFold((st, dg) -> ${step}, ${digits}, ${start})`, text);
  const parts = binding(
    "head",
    `extract(${label}, '^((?s:.*))-[^-]*$')`,
    binding("tail", `extract(${label}, '([^-]*)$')`, folded),
  );
  return `if(lengthUTF8(${label}) > ${LABEL_MAX_CHARS}, '', ${parts})`;
}

/** A domain whose labels become others, with full stops between them. */
function labels(call: CallWriter, label: string): string {
  const all = `splitByRegexp('${DOTS}', ${call.operand(0)})`;
  return `arrayStringConcat(arrayMap(lb -> ${label}, ${all}), '.')`;
}

/** Names of domains beyond ASCII, as they are written and as they are asked for. */
export const PUNYCODE_FUNCTIONS = {
  punycode_from_string: simple(
    `The Punycode of a text of up to ${LABEL_MAX_CHARS} characters, without \`xn--\`.`,
    [parameter("input_string", "string")],
    "string",
    "never",
    (call) => encoded(call.sharedOperand(0)),
  ),
  punycode_to_string: simple(
    `The text of a Punycode of up to ${LABEL_MAX_CHARS} characters, without \`xn--\`; empty when it is none.`,
    [parameter("input_string", "string")],
    "string",
    "never",
    (call) => decoded(call.sharedOperand(0)),
  ),
  punycode_domain_to_string: simple(
    "The domain with each label that is not ASCII in Punycode.",
    [parameter("domain", "string")],
    "string",
    "never",
    (call) => labels(call, `if(match(lb, '[^\\\\x00-\\\\x7f]'), concat('xn--', ${encoded("lb")}), lb)`),
  ),
  punycode_domain_from_string: simple(
    "The domain with the text of each label in Punycode.",
    [parameter("encoded_string", "string")],
    "string",
    "never",
    (call) =>
      labels(
        call,
        `if(startsWith(lower(lb), 'xn--'), ${binding("of", "substring(lb, 5)", decoded("of"))}, lb)`,
      ),
  ),
} as const satisfies FunctionTable;
