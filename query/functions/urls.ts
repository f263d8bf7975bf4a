import { type CallWriter, type FunctionTable, parameter, simple, sql } from "./definition.ts";

/** What stays as it is in an encoded URL. */
const UNRESERVED = "A-Za-z0-9\\\\-_.!*()";

/** Every other byte as % and two hexadecimal digits. */
function encoded(text: string, space: string): string {
  const digits = "replaceRegexpAll(lower(hex(x)), '..', '%\\\\0')";
  const chunk = `if(match(x, '^[${UNRESERVED}]'), x, replaceAll(${digits}, '%20', '${space}'))`;
  const chunks = `extractAll(${text}, '[${UNRESERVED}]+|[^${UNRESERVED}]+')`;
  return `arrayStringConcat(arrayMap(x -> ${chunk}, ${chunks}))`;
}

const PARTS =
  "^(?:([A-Za-z][A-Za-z0-9+.\\\\-]*)://)?(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\\\\[[^\\\\]/?#]*\\\\]|[^:/?#]*)(?::([0-9]*))?([^?#]*)(?:[?]([^#]*))?(?:#((?s:.*)))?";

/** The bag of the parameters of a query; of several with one name the last counts. */
function queryBag(query: string): string {
  const pairs = `arrayFilter(x -> x != '', splitByChar('&', ${query}))`;
  const key = "splitByChar('=', x)[1]";
  const value = "if(position(x, '=') = 0, '', substring(x, position(x, '=') + 1))";
  const map = `mapFromArrays(arrayMap(x -> ${key}, ${pairs}), arrayMap(x -> ${value}, ${pairs}))`;
  return `toJSONString(${map})`;
}

const URL_PARTS = ["Scheme", "Username", "Password", "Host", "Port", "Path"] as const;
const ORDER = ["Scheme", "Host", "Port", "Path", "Username", "Password"] as const;

function parseUrl(call: CallWriter): string {
  const parts = call.share(`extractGroups(${call.operand(0)}, '${PARTS}')`);
  const group = (index: number) => `${parts}[${index + 1}]`;
  const members = ORDER.map((name) => `'"${name}":', toJSONString(${group(URL_PARTS.indexOf(name))}), ','`);
  return (
    `if(empty(${parts}), '', concat('{', ${members.join(", ")}, ` +
    `'"Query Parameters":', ${queryBag(group(6))}, ',"Fragment":', toJSONString(${group(7)}), '}'))`
  );
}

function parseUrlQuery(call: CallWriter): string {
  const query = call.share(`trimLeft(${call.operand(0)}, '?')`);
  return `concat('{"Query Parameters":', ${queryBag(query)}, '}')`;
}

const UNDOCUMENTED =
  "Parameters stay encoded, and of several with one name the last counts; Kusto does not document it.";

const PARSE_URL = {
  ...simple("The parts of a URL.", [parameter("url", "string")], "dynamic", "never", parseUrl),
  approximate: UNDOCUMENTED,
};
const PARSE_URL_QUERY = {
  ...simple(
    "The parameters of the query of a URL.",
    [parameter("query", "string")],
    "dynamic",
    "never",
    parseUrlQuery,
  ),
  approximate: UNDOCUMENTED,
};

export const URL_FUNCTIONS = {
  url_encode: simple(
    "The text as part of a URL, a space as +.",
    [parameter("url", "string")],
    "string",
    "never",
    (call) => encoded(call.operand(0), "+"),
  ),
  url_encode_component: simple(
    "The text as part of a URL, a space as %20.",
    [parameter("url", "string")],
    "string",
    "never",
    (call) => encoded(call.operand(0), "%20"),
  ),
  url_decode: simple(
    "The text that an encoded part of a URL stands for.",
    [parameter("encoded_url", "string")],
    "string",
    "never",
    sql`decodeURLFormComponent(${0})`,
  ),
  parse_url: PARSE_URL,
  parseurl: PARSE_URL,
  parse_urlquery: PARSE_URL_QUERY,
  parseurlquery: PARSE_URL_QUERY,
} as const satisfies FunctionTable;
