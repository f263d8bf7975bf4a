import type { CompiledQuery } from "../../query/index.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import { ClickHouseQueryError } from "./clickhouse-errors.ts";
import { basicAuthorization } from "./embedded/clickhouse-config.ts";
import { CLICKHOUSE_REQUEST_TIMEOUT_MS, STORE_ANSWER_MEMORY_BYTES } from "./limits.ts";
import type { StoreCapacity } from "./statement-bounds.ts";

/** What a statement cost in the store. */
export interface StatementCost {
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** What ClickHouse takes of one field of a form, whatever its settings say for the statement: its text, or one value. */
const FIELD_MAX_BYTES = 131_072 - 1_024;

/** Code of ClickHouse for what is seen here before it could say so. */
const QUERY_IS_TOO_LARGE = 229;

/** Characters of a refusal kept for the log. */
const REFUSAL_MAX_CHARS = 1_000;

/** How every answer is written, whatever the statement says besides. */
const OUTPUT = {
  // Beyond that an answer waits on the store's disk, which may be full, until all of it is there.
  buffer_size: String(STORE_ANSWER_MEMORY_BYTES),
  output_format_json_validate_utf8: "1",
};

/**
 * Statements on their way to ClickHouse. Speaks HTTP itself, because the official client on this runtime adds two
 * milliseconds to every statement, which is as much as most of them take.
 */
export class StatementWire {
  readonly #endpoint: ClickHouseEndpoint;
  readonly #authorization: string;

  constructor(endpoint: ClickHouseEndpoint) {
    this.#endpoint = endpoint;
    this.#authorization = basicAuthorization(endpoint.user, endpoint.password);
  }

  /** The head of the answer, whatever its status. Throws ClickHouseQueryError without a code when there is none. */
  async send(
    { sql, parameters, settings }: Pick<CompiledQuery, "sql" | "parameters" | "settings">,
    signal: AbortSignal,
    format = "\nFORMAT JSONCompactEachRow",
  ): Promise<Response> {
    const { origin, database } = this.#endpoint;
    const url = new URLSearchParams({ database, ...OUTPUT, ...settings });
    // As a form, since the address of a request has a limit of its own for all values together.
    const fields = { query: `${sql}${format}`, ...parameterFields(sql, parameters) };
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (Buffer.byteLength(value) > FIELD_MAX_BYTES)
        throw new ClickHouseQueryError(QUERY_IS_TOO_LARGE, `${name} is larger than the store takes`);
      form.set(name, value);
    }
    try {
      return await fetch(`${origin}/?${url}`, {
        method: "POST",
        headers: { authorization: this.#authorization },
        body: form,
        signal,
      });
    } catch (error) {
      throw notAnswered(error);
    }
  }

  /**
   * What the store says it has; more memory than there is where it does not say, as to a user who may not ask. Throws
   * ClickHouseQueryError.
   */
  async capacity(): Promise<StoreCapacity> {
    const response = await this.send(CAPACITY_STATEMENT, AbortSignal.timeout(CLICKHOUSE_REQUEST_TIMEOUT_MS));
    if (!response.ok) {
      const refusal = await refusalOf(response);
      if (refusal.code !== ACCESS_DENIED) throw refusal;
      return { memoryBytes: Number.MAX_SAFE_INTEGER, threads: null };
    }
    const line = await response.text().catch((error: unknown) => {
      throw notAnswered(error);
    });
    const [, bytes, threads] = /^\["?(\d+)"?, *"?(\d+)"?\]\s*$/.exec(line) ?? [];
    return {
      memoryBytes: Number(bytes) || Number.MAX_SAFE_INTEGER,
      threads: Number(threads) || null,
    };
  }
}

/** Code of ClickHouse for what a user may not read. */
const ACCESS_DENIED = 497;

const CAPACITY_STATEMENT = {
  sql: "SELECT value, toString(getSetting('max_threads')) FROM system.server_settings WHERE name = 'max_server_memory_usage'",
  parameters: {},
  settings: { readonly: "1" },
};

/** Why a statement was refused. */
export async function refusalOf(response: Response): Promise<ClickHouseQueryError> {
  const code = response.headers.get("x-clickhouse-exception-code");
  const text = await response.text().catch(() => "");
  return new ClickHouseQueryError(code === null ? null : Number(code), text.slice(0, REFUSAL_MAX_CHARS));
}

export function notAnswered(cause: unknown): ClickHouseQueryError {
  return new ClickHouseQueryError(null, "not answered", { cause });
}

/** What the store says of an answer in its head, which it sends when the statement is over; null when it says nothing. */
export function summaryOf({ headers }: Response): (StatementCost & { readonly resultRows: number }) | null {
  const summary: unknown = JSON.parse(headers.get("x-clickhouse-summary") ?? "null");
  if (!isRecord(summary)) return null;
  const { read_rows: rowsRead, read_bytes: bytesRead, result_rows: resultRows } = summary;
  return { rowsRead: Number(rowsRead), bytesRead: Number(bytesRead), resultRows: Number(resultRows) };
}

function parameterFields(sql: string, parameters: CompiledQuery["parameters"]): Record<string, string> {
  const fields = Object.entries(parameters).map(([name, value]) => {
    // A list is read as it is: its elements have escapes of their own.
    const isList = sql.includes(`{${name}:Array(`);
    return [`param_${name}`, isList ? value : escapeParameter(value)];
  });
  return Object.fromEntries(fields);
}

/** ClickHouse reads the value of a parameter as a field of TSV. */
function escapeParameter(value: string): string {
  return value.replace(/[\\\t\n\r]/g, (character) => PARAMETER_ESCAPES[character] ?? character);
}

const PARAMETER_ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
