import type { MadeSpan } from "../../../../query/index.ts";
import { ALERT_FUTURE_MAX_MS } from "../../../rules/counters/limits.ts";
import { attributeKeysOf, type SealedRange } from "../../../rules/seal/finder.ts";
import { readRows, textsOfParameter, textsParameter } from "../../../rules/seal/read-rows.ts";
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

/** Names in small letters of attributes by which `groupError` may take an entry for an error. */
const SAYS_ERROR = /^(?:(?:exception|error|err)(?:[._]|$)|stack)/;
/** Names in small letters of the attributes that are of interest to it, and of those that say where an error was. */
const IS_READ =
  /^(?:(?:exception|error|err)(?:[._]|$)|stack|(?:backtrace|traceback|exc_info|fingerprint|service[.]version)$|deployment[.]environment)/;

/** Which entries may be errors, and which of their attributes are read; both with these parameters. */
interface Conditions {
  readonly mayBeError: string;
  readonly isRead: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const IS_LEVEL = "level IN ('error', 'fatal')";

/** Where it is known which names there are, none is compared with a pattern for each entry. */
function conditionsOf(range: SealedRange): Conditions {
  const names = attributeKeysOf(range);
  if (names === null) {
    const matches = ({ source }: RegExp) => `match(lower(name), '${source}')`;
    return {
      mayBeError: `(${IS_LEVEL} OR arrayExists(name -> ${matches(SAYS_ERROR)}, mapKeys(attrs)))`,
      isRead: matches(IS_READ),
      parameters: {},
    };
  }
  const matching = (pattern: RegExp) => [...names].filter((name) => pattern.test(name.toLowerCase()));
  const says = matching(SAYS_ERROR);
  return {
    mayBeError:
      says.length === 0 ? IS_LEVEL : `(${IS_LEVEL} OR hasAny(mapKeys(attrs), ${textsOfParameter("says")}))`,
    isRead: `has(${textsOfParameter("read")}, name)`,
    parameters: { says: textsParameter(says), read: textsParameter(matching(IS_READ)) },
  };
}

/** The errors of everybody in a range, a page at a time in the order of their ids. Throws a DependencyError. */
export async function* readErrors(
  endpoint: ClickHouseEndpoint,
  range: SealedRange,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredError[], undefined> {
  const { span } = range;
  const conditions = conditionsOf(range);
  const found = await readRows(
    endpoint,
    `SELECT toString(id) AS text FROM logs WHERE ${SPAN} AND ${conditions.mayBeError} ORDER BY id`,
    { ...spanParameters(span), ...conditions.parameters },
    signal,
  );
  let { after } = span;
  for (let i = PAGE_ENTRIES - 1; i - found.length < PAGE_ENTRIES - 1; i += PAGE_ENTRIES) {
    const last = found[Math.min(i, found.length - 1)]?.[0];
    if (last === undefined) return;
    const through = BigInt(String(last));
    yield await readPage(endpoint, { ...span, after, through }, conditions, signal);
    after = through;
  }
}

async function readPage(
  endpoint: ClickHouseEndpoint,
  span: MadeSpan,
  { mayBeError, isRead, parameters }: Conditions,
  signal: AbortSignal,
): Promise<StoredError[]> {
  const rows = await readRows(
    endpoint,
    `SELECT organization_id, toString(id) AS text, toUnixTimestamp64Milli(toDateTime64(ts, 3)) AS at,
            if(at > toUnixTimestamp64Milli(received_at) + ${ALERT_FUTURE_MAX_MS}, toUnixTimestamp64Milli(received_at), at),
            service, toString(level), ${cut("message")},
            mapApply((name, value) -> (name, ${cut("value")}), mapFilter((name, value) -> ${isRead}, attrs))
     FROM logs WHERE ${SPAN} AND ${mayBeError} ORDER BY id`,
    { ...spanParameters(span), ...parameters },
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
