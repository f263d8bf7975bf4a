import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionTable,
  parameter,
  simple,
  stringsFunction,
} from "./definition.ts";
import { constantText } from "./string-operators.ts";

/** The parts of a version that are compared, and the digits of each. */
const VERSION_PARTS = 4;
const VERSION_PART_DIGITS = 8;

/** One field of a record: in quotes, in which a quote is written twice, or up to the next comma. */
const CSV_FIELD = ',("(?:[^"]|"")*(?:"|$)|[^,]*)';

function parseCsv(call: CallWriter): string {
  const record = `extract(${call.operand(0)}, '^((?:"(?:[^"]|"")*(?:"|$)|[^"\\\\r\\\\n])*)')`;
  const unquoted = `if(startsWith(x, '"'), replaceAll(replaceRegexpOne(substring(x, 2), '"$', ''), '""', '"'), x)`;
  return `arrayMap(x -> ${unquoted}, extractAll(concat(',', ${record}), '${CSV_FIELD}'))`;
}

/** Every part with the same number of digits, so that the texts compare as the versions do. */
function parseVersion(call: CallWriter): string {
  const text = call.sharedOperand(0);
  const parts = `arrayResize(splitByChar('.', ${text}), ${VERSION_PARTS}, '0')`;
  const isVersion = `match(${text}, '^[0-9]{1,${VERSION_PART_DIGITS}}(?:[.][0-9]{1,${VERSION_PART_DIGITS}}){0,${VERSION_PARTS - 1}}$')`;
  return `if(${isVersion}, arrayStringConcat(arrayMap(x -> leftPad(x, ${VERSION_PART_DIGITS}, '0'), ${parts})), '')`;
}

/** The longest path that a system knows has 32 767 characters; taking longer texts apart costs a quarter of a second per MiB. */
const PATH_MAX_BYTES = 32_768;

const PATH =
  "^(?:([A-Za-z][A-Za-z0-9+.\\\\-]+)://)?((?:[A-Za-z]:)?)((?:(?s:.)*[\\\\\\\\/])?)([^\\\\\\\\/:]*)(?::([^\\\\\\\\/]*))?$";

function parsePath(call: CallWriter): string {
  const text = call.sharedOperand(0);
  const path = `replaceRegexpOne(if(length(${text}) > ${PATH_MAX_BYTES}, '', ${text}), '^\\\\\\\\\\\\\\\\[?]\\\\\\\\', '')`;
  const parts = call.share(`extractGroups(${path}, '${PATH}')`);
  const directory = call.share(`replaceRegexpOne(concat(${parts}[2], ${parts}[3]), '[\\\\\\\\/]$', '')`);
  const members = [
    ["Scheme", `${parts}[1]`],
    ["RootPath", `concat(${parts}[2], if(${parts}[2] = '', '', extract(${parts}[3], '^[\\\\\\\\/]')))`],
    ["DirectoryPath", directory],
    ["DirectoryName", `extract(${directory}, '([^\\\\\\\\/:]*)$')`],
    ["Filename", `${parts}[4]`],
    ["Extension", `extract(${parts}[4], '[.]([^.]*)$')`],
    ["AlternateDataStreamName", `${parts}[5]`],
  ].map(([name, value]) => `'"${name}":', toJSONString(${value})`);
  return `if(empty(${parts}) OR length(${text}) > ${PATH_MAX_BYTES}, '', concat('{', ${members.join(", ',', ")}, '}'))`;
}

/** One argument: anything but white space, and anything in quotes; a quote behind a backslash is one of the text. */
const ARGUMENT = '((?:\\\\\\\\"|"(?:\\\\\\\\"|[^"])*"?|[^\\\\s"])+)';

function parseCommandLine(call: CallWriter): string {
  if (constantText(call, 1) !== "windows") throw new FunctionArgumentError(1, 'the only parser is "windows"');
  const unquoted = `replaceAll(replaceAll(replaceAll(x, '\\\\"', '\\x01'), '"', ''), '\\x01', '"')`;
  return `arrayMap(x -> ${unquoted}, extractAll(${call.operand(0)}, '${ARGUMENT}'))`;
}

/** Functions that take texts of a known form apart. */
export const PARSER_FUNCTIONS = {
  parse_csv: stringsFunction(
    "The fields of the first record of comma-separated values.",
    [parameter("csv_text", "string")],
    parseCsv,
  ),
  parse_version: {
    ...simple(
      "A version of up to four numbers, for comparing; null when it is none.",
      [parameter("version", "string")],
      "string",
      "never",
      parseVersion,
    ),
    approximate: "The result is a text of 32 digits that compares as the version does, not a decimal number.",
  },
  parse_path: {
    ...simple("The parts of a path of a file.", [parameter("path", "string")], "dynamic", "never", parsePath),
    approximate: "A text of more than 32 KiB is no path, and null comes of it.",
  },
  parse_command_line: {
    ...stringsFunction(
      "The arguments of a command line.",
      [parameter("command", "string"), constant("parser", "string")],
      parseCommandLine,
    ),
    approximate: "Several backslashes before a quote are not counted: the last one belongs to the quote.",
  },
} as const satisfies FunctionTable;
