import { mapInSlices } from "../../concurrency/thread-turns.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { askClickHouse } from "../../storage/clickhouse-http.ts";

/** Rows of the columns of `structure` in ClickHouse's RowBinary, which a statement reads as a table. */
interface GivenTable {
  readonly name: string;
  readonly structure: string;
  readonly rows: Uint8Array<ArrayBuffer>;
}

/** The rows that a statement of the server's own answers; values travel as parameters, and many of them as a table. */
export async function readRows(
  endpoint: ClickHouseEndpoint,
  sql: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
  table?: GivenTable,
): Promise<readonly (readonly unknown[])[]> {
  const settings = new URLSearchParams({
    database: endpoint.database,
    wait_end_of_query: "1",
    readonly: "1",
    // Where the store has copies, the one that answers has to know of every insert that was acknowledged.
    select_sequential_consistency: "1",
  });
  for (const [name, value] of Object.entries(parameters)) settings.set(`param_${name}`, value);
  const statement = `${sql} FORMAT JSONCompactEachRow`;
  const body = table === undefined ? new Blob([statement]) : withTable(statement, table, settings);
  const answer = await askClickHouse(endpoint, settings, body, signal);
  const lines = (await answer.text()).split("\n").filter((line) => line !== "");
  return mapInSlices(lines, (line) => {
    const row: unknown = JSON.parse(line);
    if (!Array.isArray(row)) throw new TypeError("the store answers with what is no row");
    return row;
  });
}

/** Beside a table the statement travels as a setting; https://clickhouse.com/docs/engines/table-engines/special/external-data. */
function withTable(statement: string, { name, structure, rows }: GivenTable, settings: URLSearchParams) {
  settings.set("query", statement);
  settings.set(`${name}_structure`, structure);
  settings.set(`${name}_format`, "RowBinary");
  const form = new FormData();
  form.set(name, new Blob([rows]), name);
  return form;
}

/** Texts as the value of a parameter, which `textsOfParameter` reads: whatever is in them, nothing has to be escaped. */
export function textsParameter(texts: readonly string[]): string {
  return Buffer.from(JSON.stringify(texts)).toString("base64");
}

export function textsOfParameter(name: string): string {
  return `JSONExtract(base64Decode({${name}: String}), 'Array(String)')`;
}
