import { kqlCapabilities, type OperatorCapability } from "../../../query/index.ts";
import { FUNCTIONS_MAX, TABLE_MAX_ROWS, TABLES_MAX } from "../../kql/kept/limits.ts";

/** The text of docs/kql.md: what of the language is understood, from the tables that the compiler works with. */
export function renderKqlReference(): string {
  const { tables, operators, functions } = kqlCapabilities();
  const isWord = ({ name }: OperatorCapability) => /^[a-z]/.test(name) && !EXPRESSION_WORDS.test(name);
  const supported = functions.filter(({ support }) => support !== "rejected");
  const rejected = functions.filter(({ support }) => support === "rejected");
  return [
    HEAD,
    "## Columns\n",
    table(
      ["Table", "Column", "Type"],
      tables.flatMap(({ name, columns }) =>
        columns.map((column) => [code(name), code(column.name), column.type]),
      ),
    ),
    "\n## Tabular operators\n",
    table(["Operator", "Support", "Note"], operators.filter(isWord).map(operatorRow)),
    "\n## Operators of expressions\n",
    table(
      ["Operator", "Support", "Note"],
      operators.filter((operator) => !isWord(operator)).map(operatorRow),
    ),
    "\n## Functions\n",
    table(
      ["Function", "Kind", "What it does", "Support", "Note"],
      supported.map(({ name, kind, summary, support, note }) => [
        code(name),
        kind,
        summary ?? "",
        support,
        note ?? "",
      ]),
    ),
    "\n## Functions that are refused\n",
    "A query that calls one of them is refused by name, with the place.\n",
    ...[...groupedByNote(rejected)].map(([note, names]) => `- ${note}: ${names.map(code).join(", ")}`),
    "",
  ].join("\n");
}

const EXPRESSION_WORDS =
  /^(?:and|or|not|in~?|has(?:_\w+)?|hasprefix\w*|hassuffix\w*|contains\w*|startswith\w*|endswith\w*|between|matches regex)$/;

function operatorRow({ name, support, note }: OperatorCapability): string[] {
  return [code(name), support, note ?? ""];
}

function groupedByNote(functions: readonly { readonly name: string; readonly note: string | null }[]) {
  const groups = new Map<string, string[]>();
  for (const { name, note } of functions) groups.set(note ?? "", [...(groups.get(note ?? "") ?? []), name]);
  return groups;
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), `|${heads.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const HEAD = `# KQL

Queries are written in the Kusto Query Language, with Kusto's meaning: nulls, types, term matching, order of nulls,
names of columns. What is not supported is refused with its name and place; nothing is answered in another sense without
being listed as approximate below. \`GET /api/v1/kql/capabilities\` answers with the same tables.

- A condition alone (\`level == "error" and status >= 500\`) is a query over \`logs\`, and so is a text that begins with an
  operator (\`where ... | summarize ...\`).
- Columns of \`logs\`: \`ts\`, \`id\`, \`receivedAt\`, \`level\`, \`service\`, \`source\`, \`host\`, \`message\`, \`event_id\`, \`traceId\`,
  \`spanId\`, \`attrs\`. Names from elsewhere mean them too: \`TimeGenerated\`, \`Timestamp\`, \`SeverityLevel\`, \`Message\`, ...
- \`checks\` is what monitors found, a row for each round in each region; it needs the scope \`monitors:read\`, and the time range
  of the request is about \`startedAt\`. Its columns are below. \`checks | where status == "down" | summarize count() by
  monitorId, bin(startedAt, 5m)\`; both tables can stand in one query.
- Any other bare name is an attribute of \`logs\`: \`status >= 500\` is \`attrs.status >= 500\`. It has the type that its use asks for:
  compared with a number it is a number, as a key of \`summarize\` or \`distinct\` it is a text, added up it is a number.
  \`attrs.a.b\` is the attribute \`a.b\`, else the part \`b\` of the attribute \`a\`; \`attrs["a.b"]\` is the former only.
- In a condition, \`level:error\` and \`message:"disk full"\` look for a term, \`field:*\` asks whether there is one.
- \`now()\` is one instant for the whole query. Times go from 1900-01-01 to 2262-04-11, to the nanosecond. Decimals are
  real numbers.
- **Functions of the organization** (\`/api/v1/kql/functions\`) are called like built-in ones and by \`invoke\`; **tables of the
  organization** (\`/api/v1/kql/tables\`, made of CSV) stand wherever a table can: \`logs | lookup hosts on host\`.
  There are ${FUNCTIONS_MAX} functions and ${TABLES_MAX} tables of up to ${TABLE_MAX_ROWS} rows at most. Rules at ingest and the live tail name
  nothing that is kept, since they stand for longer than one answer.
- A value of a row can be an argument of a function, but a table within that function cannot be made with it: join the tables,
  or look the value up. \`prev()\` and the other functions of the rows around stand in extend, project, where and sort.
- \`union isfuzzy=true\` goes on with the tables that the query may read: a leg that names another, in itself or in a function that it
  calls, is left out, and \`warnings\` of the answer say so. Where none is left, the query is refused.
- Every query reads the rows of its own organization only, within the time range of the request and its budget.

`;
