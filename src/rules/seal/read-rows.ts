import { mapInSlices } from "../../concurrency/thread-turns.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { askClickHouse } from "../../storage/clickhouse-http.ts";

/** The rows that a statement of the server's own answers; values travel as parameters. */
export async function readRows(
  endpoint: ClickHouseEndpoint,
  sql: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly (readonly unknown[])[]> {
  const settings = new URLSearchParams({
    database: endpoint.database,
    wait_end_of_query: "1",
    readonly: "1",
    // Where the store has copies, the one that answers has to know of every insert that was acknowledged.
    select_sequential_consistency: "1",
  });
  for (const [name, value] of Object.entries(parameters)) settings.set(`param_${name}`, value);
  const body = new Blob([`${sql} FORMAT JSONCompactEachRow`]);
  const answer = await askClickHouse(endpoint, settings, body, signal);
  const lines = (await answer.text()).split("\n").filter((line) => line !== "");
  return mapInSlices(lines, (line) => {
    const row: unknown = JSON.parse(line);
    if (!Array.isArray(row)) throw new TypeError("the store answers with what is no row");
    return row;
  });
}

/** Texts as the value of a parameter, which `textsOfParameter` reads: whatever is in them, nothing has to be escaped. */
export function textsParameter(texts: readonly string[]): string {
  return Buffer.from(JSON.stringify(texts)).toString("base64");
}

export function textsOfParameter(name: string): string {
  return `JSONExtract(base64Decode({${name}: String}), 'Array(String)')`;
}
