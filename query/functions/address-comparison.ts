import { optional, type Parameter, parameter, repeated, type SqlTemplate, simple } from "./definition.ts";

/** How addresses of one version are compared. */
interface AddressComparison {
  /** Compares two addresses as far as their prefixes, and the one asked for, reach; NULL when one of them is none. */
  readonly comparison: (write: (left: string, right: string) => string) => SqlTemplate;
  readonly isInRange: SqlTemplate;
  readonly isInAnyRange: SqlTemplate;
}

const PAIR: readonly Parameter[] = [
  parameter("ip1", "string"),
  parameter("ip2", "string"),
  optional("prefix", "long"),
];

/** The functions that there are for addresses of either version. */
export function addressFunctions({ comparison, isInRange, isInAnyRange }: AddressComparison) {
  return {
    compare: simple(
      "-1, 0 or 1: smaller, the same or larger, as far as the prefixes reach.",
      PAIR,
      "long",
      "possible",
      comparison((left, right) => `toInt64(multiIf(${left} < ${right}, -1, ${left} > ${right}, 1, 0))`),
    ),
    isMatch: simple(
      "The same address, as far as the prefixes reach.",
      PAIR,
      "bool",
      "possible",
      comparison((left, right) => `${left} = ${right}`),
    ),
    isInRange: simple(
      "The address is in the network.",
      [parameter("ip", "string"), parameter("ip_range", "string")],
      "bool",
      "possible",
      isInRange,
    ),
    isInAnyRange: simple(
      "The address is in one of the networks.",
      [
        parameter("ip", "string"),
        parameter("range", ["string", "dynamic"]),
        repeated("other", ["string", "dynamic"]),
      ],
      "bool",
      "possible",
      isInAnyRange,
    ),
  };
}
