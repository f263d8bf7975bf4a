import { addressFunctions } from "./address-comparison.ts";
import { type CallWriter, type FunctionTable, parameter, type SqlTemplate, simple } from "./definition.ts";
import { needleArray } from "./term-search.ts";

/**
 * Addresses of either version: one of version 4 is that of version 6 with ::ffff: before it, and its prefix counts from
 * there.
 */
interface Ipv6Sql {
  /** NULL when the text is no address. */
  readonly address: string;
  /** Bits of the network, 0 to 128; NULL when the text is no address. */
  readonly prefix: string;
  /** Whether the address is written as one of version 4. */
  readonly isVersion4: string;
}

/** The address of a text. `text` must be shared, or a variable of a lambda. */
function ipv6Sql(text: string): Ipv6Sql {
  const address = `toIPv6OrNull(splitByChar('/', ${text})[1])`;
  const isVersion4 = `(position(${text}, ':') = 0)`;
  const given = `toUInt8OrNull(splitByChar('/', ${text})[2])`;
  const bits = `if(${isVersion4}, if(${given} <= 32, ${given} + 96, NULL), if(${given} <= 128, ${given}, NULL))`;
  const prefix = `toInt64(if(position(${text}, '/') = 0, 128, ${bits}))`;
  return {
    address: `if(isNull(${prefix}), NULL, ${address})`,
    prefix: `if(isNull(${address}), NULL, ${prefix})`,
    isVersion4,
  };
}

function operandIpv6(call: CallWriter, index: number): Ipv6Sql {
  const { address, prefix, isVersion4 } = ipv6Sql(call.sharedOperand(index));
  return { address: call.share(address), prefix: call.share(prefix), isVersion4 };
}

/** The address with the bits behind the prefix cleared. */
function network(address: string, prefix: string): string {
  return `IPv6CIDRToRange(ifNull(${address}, toIPv6('::')), toUInt8(ifNull(${prefix}, 0))).1`;
}

/** All 32 hexadecimal digits, in groups of four. */
function fullText(address: string): string {
  return `substring(replaceRegexpAll(lower(hex(${address})), '....', ':\\\\0'), 2)`;
}

function parseIpv6(call: CallWriter): string {
  const { address, prefix, isVersion4 } = operandIpv6(call, 0);
  const asked = askedPrefix(call, 1, isVersion4);
  const bits = asked === undefined ? prefix : `least(${prefix}, ${asked})`;
  const isMissing = [address, ...(asked === undefined ? [] : [asked])]
    .map((value) => `isNull(${value})`)
    .join(" OR ");
  return `if(${isMissing}, '', ${fullText(network(address, bits))})`;
}

/** The prefix that an operand asks for, NULL out of bounds; of version 4 when the addresses are. */
function askedPrefix(call: CallWriter, index: number, isVersion4: string): string | undefined {
  if (call.operands.length <= index) return undefined;
  const asked = call.sharedOperand(index);
  return call.share(
    `multiIf(${isVersion4} AND ${asked} BETWEEN 0 AND 32, ${asked} + 96, ${asked} BETWEEN 0 AND 128, ${asked}, NULL)`,
  );
}

function comparison(write: (left: string, right: string) => string): SqlTemplate {
  return (call) => {
    const [left, right] = [operandIpv6(call, 0), operandIpv6(call, 1)];
    const asked = askedPrefix(call, 2, `(${left.isVersion4} AND ${right.isVersion4})`);
    const prefixes = [left.prefix, right.prefix, ...(asked === undefined ? [] : [asked])];
    const bits = call.share(`least(${prefixes.join(", ")})`);
    const isMissing = [left.address, right.address, ...prefixes]
      .map((value) => `isNull(${value})`)
      .join(" OR ");
    const networks = [left, right].map(({ address }) => call.share(network(address, bits)));
    const [first = "", second = ""] = networks;
    return `if(${isMissing}, NULL, ${write(first, second)})`;
  };
}

function isInRange(call: CallWriter): string {
  const [ip, range] = [operandIpv6(call, 0), operandIpv6(call, 1)];
  const isWithin = `${network(ip.address, range.prefix)} = ${network(range.address, range.prefix)}`;
  return `if(isNull(${ip.address}) OR isNull(${range.address}), NULL, ${isWithin})`;
}

function isInAnyRange(call: CallWriter): string {
  const ip = operandIpv6(call, 0);
  const range = ipv6Sql("x");
  const isWithin = `isNotNull(${range.address}) AND ${network(ip.address, range.prefix)} = ${network(range.address, range.prefix)}`;
  return `if(isNull(${ip.address}), NULL, arrayExists(x -> ${isWithin}, ${needleArray(call)}))`;
}

const ADDRESSES = addressFunctions({ comparison, isInRange, isInAnyRange });

/** Addresses are texts of version 6 or 4, with or without a prefix; other texts are none, and their results null. */
export const IPV6_FUNCTIONS = {
  parse_ipv6: simple(
    "The full text of an address.",
    [parameter("ip", "string")],
    "string",
    "never",
    parseIpv6,
  ),
  parse_ipv6_mask: simple(
    "The full text of an address, as far as the prefix reaches.",
    [parameter("ip", "string"), parameter("prefix", "long")],
    "string",
    "never",
    parseIpv6,
  ),
  ipv6_compare: ADDRESSES.compare,
  ipv6_is_match: ADDRESSES.isMatch,
  ipv6_is_in_range: ADDRESSES.isInRange,
  ipv6_is_in_any_range: ADDRESSES.isInAnyRange,
} as const satisfies FunctionTable;
