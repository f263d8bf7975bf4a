import { addressFunctions } from "./address-comparison.ts";
import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  optional,
  overload,
  type Parameter,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { constantText } from "./string-operators.ts";
import { needleArray } from "./term-search.ts";

/** The SQL of an address with its prefix; both are NULL when the text is no address. Each part may be repeated. */
interface AddressSql {
  /** A number of 32 bits as Int64. */
  readonly address: string;
  /** Bits of the network, 0 to 32. */
  readonly prefix: string;
}

const ADDRESS = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d|[12]\d|3[0-2]))?$/;

/** The address of a text `a.b.c.d` or `a.b.c.d/prefix`. `text` must be shared, or a variable of a lambda. */
function addressSql(text: string): AddressSql {
  const number = `toInt64(IPv4StringToNumOrNull(splitByChar('/', ${text})[1]))`;
  const given = `splitByChar('/', ${text})[2]`;
  const prefix = `multiIf(position(${text}, '/') = 0, 32, match(${text}, '^[^/]*/(?:[0-9]|[12][0-9]|3[0-2])$'), toInt64OrZero(${given}), NULL)`;
  return {
    address: `if(isNull(${prefix}), NULL, ${number})`,
    prefix: `if(isNull(${number}), NULL, ${prefix})`,
  };
}

/** An operand's address; a constant one is read at once. */
function operandAddress(call: CallWriter, index: number): AddressSql {
  const text = constantText(call, index);
  if (text !== undefined) {
    const constant = readAddress(text);
    if (constant === null)
      return { address: "CAST(NULL, 'Nullable(Int64)')", prefix: "CAST(NULL, 'Nullable(Int64)')" };
    return { address: `toInt64(${constant.address})`, prefix: `toInt64(${constant.prefix})` };
  }
  const { address, prefix } = addressSql(call.sharedOperand(index));
  return { address: call.share(address), prefix: call.share(prefix) };
}

/** An address that is known when the query is compiled; null for a text that is none. */
export function readAddress(text: string): { readonly address: number; readonly prefix: number } | null {
  const match = ADDRESS.exec(text);
  if (match === null) return null;
  const parts = match.slice(1, 5).map(Number);
  const prefix = Number(match[5] ?? 32);
  const hasLeadingZero = match.slice(1, 5).some((part) => part.length > 1 && part.startsWith("0"));
  if (hasLeadingZero || parts.some((part) => part > 255)) return null;
  return { address: parts.reduce((sum, part) => sum * 256 + part, 0), prefix };
}

/** The address with the bits behind the prefix cleared. */
function network(address: string, prefix: string): string {
  return `bitAnd(${address}, toInt64(4294967296) - bitShiftLeft(toInt64(1), toUInt8(32 - ${prefix})))`;
}

/** The prefix that an optional operand asks for, from 0 to 32; anything else is NULL. */
function askedPrefix(call: CallWriter, index: number): string {
  if (call.operands.length <= index) return "32";
  const asked = call.sharedOperand(index);
  return call.share(`if(${asked} BETWEEN 0 AND 32, ${asked}, NULL)`);
}

/** Null unless all values are there; what stands in between is computed with 0 instead. */
function whenPresent(values: readonly string[], write: (...present: string[]) => string): string {
  const missing = values.map((value) => `isNull(${value})`).join(" OR ");
  return `if(${missing}, NULL, ${write(...values.map((value) => `ifNull(${value}, 0)`))})`;
}

function parseIpv4(call: CallWriter): string {
  const { address, prefix } = operandAddress(call, 0);
  return whenPresent([address, prefix, askedPrefix(call, 1)], (ip, own, asked) =>
    network(`${ip}`, `least(${own}, ${asked})`),
  );
}

/** Two addresses as far as all prefixes reach. */
function comparison(write: (left: string, right: string) => string): SqlTemplate {
  return (call) => {
    const [left, right] = [operandAddress(call, 0), operandAddress(call, 1)];
    const values = [left.address, right.address, left.prefix, right.prefix, askedPrefix(call, 2)];
    return whenPresent(values, (first, second, ...prefixes) => {
      const prefix = call.share(`least(${prefixes.join(", ")})`);
      return write(call.share(network(`${first}`, prefix)), call.share(network(`${second}`, prefix)));
    });
  };
}

function isInRange(call: CallWriter): string {
  const [ip, range] = [operandAddress(call, 0), operandAddress(call, 1)];
  return whenPresent([ip.address, range.address, range.prefix], (address, base, prefix) => {
    const bits = `${prefix}`;
    return `${network(`${address}`, bits)} = ${network(`${base}`, bits)}`;
  });
}

/** Constant ranges are compared one by one without a look at their texts. */
function isInAnyRange(call: CallWriter): string {
  const { address } = operandAddress(call, 0);
  const ranges = call.operands.slice(1).map((_, i) => constantText(call, i + 1));
  if (ranges.every((range) => range !== undefined)) {
    const known = ranges.flatMap((range) => readAddress(range) ?? []);
    return whenPresent([address], (ip) => anyNetwork(`${ip}`, known));
  }
  const range = addressSql("x");
  const isWithin = `isNotNull(${range.address}) AND ${network(`ifNull(${address}, 0)`, `ifNull(${range.prefix}, 0)`)} = ${network(`ifNull(${range.address}, 0)`, `ifNull(${range.prefix}, 0)`)}`;
  return `if(isNull(${address}), NULL, arrayExists(x -> ${isWithin}, ${needleArray(call)}))`;
}

function anyNetwork(address: string, ranges: readonly { address: number; prefix: number }[]): string {
  if (ranges.length === 0) return "false";
  const conditions = ranges.map(({ address: base, prefix }) => {
    const size = 2 ** (32 - prefix);
    const first = base - (base % size);
    return `${address} BETWEEN ${first} AND ${first + size - 1}`;
  });
  return `(${conditions.map((condition) => `(${condition})`).join(" OR ")})`;
}

const PRIVATE_RANGES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].flatMap(
  (text) => readAddress(text) ?? [],
);

function isPrivate(call: CallWriter): string {
  const { address } = operandAddress(call, 0);
  return whenPresent([address], (ip) => `${anyNetwork(`${ip}`, PRIVATE_RANGES)}`);
}

/** The address of a number or of a text, with its prefix. */
function formatted(withMask: boolean): SqlTemplate {
  return (call) => {
    const isText = call.operands[0]?.type === "string";
    const number = isText ? "" : call.sharedOperand(0);
    const { address, prefix } = isText
      ? operandAddress(call, 0)
      : { address: `if(${number} BETWEEN 0 AND 4294967295, ${number}, NULL)`, prefix: "32" };
    const text = whenPresent([address, prefix, askedPrefix(call, 1)], (ip, own, asked) => {
      const bits = call.share(`toInt64(least(${own}, ${asked}))`);
      const base = `IPv4NumToString(toUInt32(${network(`${ip}`, bits)}))`;
      return withMask ? `concat(${base}, '/', toString(${bits}))` : base;
    });
    return `ifNull(${text}, '')`;
  };
}

/** The most networks that a range of addresses is made of. */
const MAX_NETWORKS = 63;

/** The largest networks that start where the last one ended, until the range is used up. */
function rangeToCidrList(call: CallWriter): string {
  const [start, end] = [operandAddress(call, 0), operandAddress(call, 1)];
  const [from, to] = [call.share(`ifNull(${start.address}, 0)`), call.share(`ifNull(${end.address}, 0)`)];
  const aligned = "if(x.1 = 0, 32, bitCount(bitXor(x.1, x.1 - 1)) - 1)";
  const fitting = `toInt64(floor(log2(toFloat64(${to} - x.1 + 1))))`;
  const bits = `least(toInt64(${aligned}), ${fitting})`;
  const cidr = `concat(IPv4NumToString(toUInt32(x.1)), '/', toString(32 - ${bits}))`;
  const step = `if(x.1 > ${to}, x, (x.1 + bitShiftLeft(toInt64(1), toUInt8(${bits})), arrayPushBack(x.2, ${cidr})))`;
  const initial = `(toInt64(${from}), CAST([], 'Array(String)'))`;
  const list = `toJSONString(arrayFold((x, y) -> ${step}, range(${MAX_NETWORKS}), ${initial}).2)`;
  return `if(isNull(${start.address}) OR isNull(${end.address}), '', ${list})`;
}

const ADDRESSES = addressFunctions({ comparison, isInRange, isInAnyRange });
const FORMATTED: readonly Parameter["type"][] = ["string", "long"];

function formatting(summary: string, withMask: boolean): FunctionDefinition {
  return {
    summary,
    overloads: FORMATTED.map((type) =>
      overload([parameter("ip", type), optional("prefix", "long")], "string", "never", formatted(withMask)),
    ),
  };
}

/** Addresses are texts `a.b.c.d`, with a prefix as `a.b.c.d/24`; other texts are none, and their results null. */
export const IPV4_FUNCTIONS = {
  parse_ipv4: simple("The number of an address.", [parameter("ip", "string")], "long", "possible", parseIpv4),
  parse_ipv4_mask: simple(
    "The number of an address, as far as the prefix reaches.",
    [parameter("ip", "string"), parameter("prefix", "long")],
    "long",
    "possible",
    parseIpv4,
  ),
  format_ipv4: formatting("The text of an address, as far as the prefix reaches.", false),
  format_ipv4_mask: formatting(
    "The text of an address, as far as the prefix reaches, with the prefix.",
    true,
  ),
  ipv4_compare: ADDRESSES.compare,
  ipv4_is_match: ADDRESSES.isMatch,
  ipv4_is_in_range: ADDRESSES.isInRange,
  ipv4_is_in_any_range: ADDRESSES.isInAnyRange,
  ipv4_is_private: simple(
    "The address is of a private network.",
    [parameter("ip", "string")],
    "bool",
    "possible",
    isPrivate,
  ),
  ipv4_netmask_suffix: simple(
    "The prefix of an address, 32 without one.",
    [parameter("ip", "string")],
    "long",
    "possible",
    (call) => `toInt64(${operandAddress(call, 0).prefix})`,
  ),
  ipv4_range_to_cidr_list: simple(
    "The networks that a range of addresses is made of.",
    [parameter("start_ip", "string"), parameter("end_ip", "string")],
    "dynamic",
    "never",
    rangeToCidrList,
  ),
} as const satisfies FunctionTable;
