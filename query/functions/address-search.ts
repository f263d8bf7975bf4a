import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  repeated,
  simple,
} from "./definition.ts";
import { readAddress } from "./ipv4-addresses.ts";
import { escapePattern, patternGroups } from "./needles.ts";
import { allConditions } from "./string-operators.ts";
import { constantNeedles, filterForAny, needleArray } from "./term-search.ts";

const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

/** Every address in a text that letters and digits do not touch. */
const ADDRESSES = `(?:\\\\A|[^0-9A-Za-z.])(${BYTE}(?:\\\\.${BYTE}){3})`;

/** Addresses in a text: complete ones, or what they begin with, which then ends with a dot. */
function hasAddress(allowsPrefix: boolean): (call: CallWriter) => string {
  return (call) => {
    const needles = constantNeedles(call);
    if (needles === undefined) return hasAnyAddress(call, allowsPrefix);
    const valid = needles.filter((needle) => isAddress(needle, allowsPrefix));
    if (valid.length === 0) return "false";
    const text = call.sharedOperand(0);
    const matches = patternGroups(valid.map(completed)).map((patterns) => {
      const pattern = `(?:\\A|[^0-9A-Za-z])(?:${patterns.join("|")})(?:\\z|[^0-9A-Za-z])`;
      return `match(${text}, ${call.parameter("String", pattern)})`;
    });
    return allConditions([filterForAny(call, text, valid), `(${matches.join(" OR ")})`]);
  };
}

/** The pattern of an address, or of those that begin with a prefix. */
function completed(needle: string): string {
  const missing = 4 - needle.split(".").filter((part) => part !== "").length;
  const parts = Array.from({ length: missing }, () => BYTE).join("\\.");
  return escapePattern(needle) + parts;
}

function isAddress(text: string, allowsPrefix: boolean): boolean {
  if (!text.endsWith(".")) return !text.includes("/") && readAddress(text) !== null;
  const parts = text.slice(0, -1).split(".");
  return (
    allowsPrefix && parts.length < 4 && readAddress([...parts, "0", "0", "0"].slice(0, 4).join(".")) !== null
  );
}

function hasAnyAddress(call: CallWriter, allowsPrefix: boolean): string {
  const found = call.share(`extractAll(${call.operand(0)}, '${ADDRESSES}')`);
  const isPrefix = allowsPrefix ? "(endsWith(x, '.') AND startsWith(y, x))" : "false";
  return `arrayExists(x -> arrayExists(y -> y = x OR ${isPrefix}, ${found}), ${needleArray(call)})`;
}

function addressSearch(summary: string, allowsPrefix: boolean, isList: boolean): FunctionDefinition {
  const needle = parameter("ip", isList ? ["string", "dynamic"] : "string");
  const parameters = [parameter("source", "string"), needle];
  const all = isList ? [...parameters, repeated("other", ["string", "dynamic"])] : parameters;
  return simple(summary, all, "bool", "never", hasAddress(allowsPrefix));
}

export const ADDRESS_SEARCH_FUNCTIONS = {
  has_ipv4: addressSearch("The text holds the address.", false, false),
  has_any_ipv4: addressSearch("The text holds one of the addresses.", false, true),
  has_ipv4_prefix: addressSearch("The text holds an address that begins with it.", true, false),
  has_any_ipv4_prefix: addressSearch("The text holds an address that begins with one of them.", true, true),
} as const satisfies FunctionTable;
