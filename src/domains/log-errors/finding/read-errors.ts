import type { MadeSpan } from "../../../../query/index.ts";
import { ALERT_FUTURE_MAX_MS } from "../../../rules/counters/limits.ts";
import { readRows } from "../../../rules/seal/read-rows.ts";
import { SPAN, spanParameters } from "../../../rules/seal/stored-entries.ts";
import type { ClickHouseEndpoint } from "../../../storage/clickhouse.ts";
import type { ErrorEntry } from "../grouping/error-text.ts";
import { PAGE_ENTRIES, TEXT_HEAD_BYTES, TEXT_TAIL_BYTES } from "./limits.ts";

/** An entry that may be an error. Times are milliseconds since 1970. */
export interface StoredError extends ErrorEntry {
  readonly organizationId: number;
  readonly id: bigint;
  /** Its own time. */
  readonly tsMs: number;
  /** The same, but when it came for one that says that it comes from the future. */
  readonly seenMs: number;
}

/** What `groupError` may take for an error, and maybe more; the other attributes are of no interest to it. */
const MAY_BE_ERROR = `(level IN ('error', 'fatal')
  OR arrayExists(name -> match(lower(name), '^(?:(?:exception|error|err)(?:[._]|$)|stack)'), mapKeys(attrs)))`;
const READ_ATTRIBUTES = `match(lower(name),
  '^(?:(?:exception|error|err)(?:[._]|$)|stack|(?:backtrace|traceback|exc_info|fingerprint|service\\\\.version)$|deployment\\\\.environment)')`;

/** The errors of everybody in a span, a page at a time in the order of their ids. Throws a DependencyError. */
export async function* readErrors(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredError[], undefined> {
  const found = await readRows(
    endpoint,
    `SELECT toString(id) AS text FROM logs WHERE ${SPAN} AND ${MAY_BE_ERROR} ORDER BY id`,
    spanParameters(span),
    signal,
  );
  let { after } = span;
  for (let i = PAGE_ENTRIES - 1; i - found.length < PAGE_ENTRIES - 1; i += PAGE_ENTRIES) {
    const last = found[Math.min(i, found.length - 1)]?.[0];
    if (last === undefined) return;
    const through = BigInt(String(last));
    yield await readPage(endpoint, { instance: span.instance, after, through }, signal);
    after = through;
  }
}

async function readPage(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  signal: AbortSignal,
): Promise<StoredError[]> {
  const rows = await readRows(
    endpoint,
    `SELECT organization_id, toString(id) AS text, toUnixTimestamp64Milli(toDateTime64(ts, 3)) AS at,
            if(at > toUnixTimestamp64Milli(received_at) + ${ALERT_FUTURE_MAX_MS}, toUnixTimestamp64Milli(received_at), at),
            service, toString(level), ${cut("message")},
            mapApply((name, value) -> (name, ${cut("value")}), mapFilter((name, value) -> ${READ_ATTRIBUTES}, attrs))
     FROM logs WHERE ${SPAN} AND ${MAY_BE_ERROR} ORDER BY id`,
    spanParameters(span),
    signal,
  );
  return rows.map(([organizationId, id, tsMs, seenMs, service, level, message, attrs]) => ({
    organizationId: Number(organizationId),
    id: BigInt(String(id)),
    tsMs: Number(tsMs),
    seenMs: Number(seenMs),
    service: String(service),
    level: String(level),
    message: String(message),
    attrs: textsOf(attrs),
  }));
}

/** A text without its middle where it is long. */
function cut(text: string): string {
  return `if(length(${text}) > ${TEXT_HEAD_BYTES + TEXT_TAIL_BYTES},
    concat(substring(${text}, 1, ${TEXT_HEAD_BYTES}), '\\n', substring(${text}, -${TEXT_TAIL_BYTES})), ${text})`;
}

function textsOf(map: unknown): Record<string, string> {
  if (typeof map !== "object" || map === null)
    throw new TypeError("a row of the log store has no attributes");
  return Object.fromEntries(Object.entries(map).map(([name, text]) => [name, String(text)]));
}
