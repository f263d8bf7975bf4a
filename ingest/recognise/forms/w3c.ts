import { COLUMNS_MAX_COUNT } from "../limits.ts";
import type { LineContext, LineForm } from "../line-form.ts";
import { ATTRIBUTE, Reading } from "../reading.ts";
import { levelOfStatus } from "./access-fields.ts";

const FIELDS = "#Fields:";
/** Attributes by the names of the columns. Source: W3C extended log file format; IIS; Amazon CloudFront, standard logs. */
const TEXTS: Readonly<Record<string, string>> = {
  "cs-method": ATTRIBUTE.method,
  "cs-uri-stem": ATTRIBUTE.path,
  "cs-uri-query": ATTRIBUTE.query,
  "cs-username": ATTRIBUTE.user,
  "c-ip": ATTRIBUTE.clientAddress,
  "s-ip": "server.ip",
  "cs-host": ATTRIBUTE.serverAddress,
  "x-host-header": ATTRIBUTE.serverAddress,
  "cs(User-Agent)": ATTRIBUTE.userAgent,
  "cs(Referer)": ATTRIBUTE.referer,
  "x-edge-request-id": ATTRIBUTE.requestId,
};
const NUMBERS: Readonly<Record<string, string>> = {
  "sc-status": ATTRIBUTE.status,
  "sc-bytes": ATTRIBUTE.bytes,
  "cs-bytes": ATTRIBUTE.requestBytes,
  "s-port": ATTRIBUTE.serverPort,
  "c-port": ATTRIBUTE.clientPort,
};
const MILLIS = 1000;

/** Rows of IIS and others, whose columns a line `#Fields:` names; lines of `#` stay as they are. */
export const W3C_FORM: LineForm = {
  name: "w3c",
  read: (text, context) => {
    if (text.startsWith("#")) return readDirective(text, context);
    const { columns } = context;
    if (columns === null) return null;
    const values = text.includes("\t") ? text.split("\t") : text.split(" ");
    if (values.length !== columns.length) return null;
    const row = new Map(columns.map((column, i) => [column, values[i] ?? ""]));
    const stamp = `${row.get("date") ?? ""}T${row.get("time") ?? ""}Z`;
    const time = context.clock.read(stamp, 0);
    if (time === null) return null;
    const reading = new Reading("w3c", text);
    reading.time = time;
    for (const [column, value] of row) writeColumn(reading, column, value);
    describe(reading, row);
    return reading;
  },
};

function readDirective(text: string, context: LineContext): null {
  if (text.startsWith(FIELDS)) {
    const columns = text.slice(FIELDS.length).trim().split(/\s+/);
    context.columns = columns.length <= COLUMNS_MAX_COUNT ? columns : null;
  }
  return null;
}

function writeColumn(reading: Reading, column: string, value: string): void {
  if (column === "date" || column === "time") return;
  const text = TEXTS[column];
  const number = NUMBERS[column];
  if (text !== undefined) reading.set(text, column.startsWith("cs(") ? readable(value) : value);
  else if (number !== undefined) reading.setNumber(number, value);
  else if (column === "s-computername") reading.host = value === "-" ? null : value;
  else reading.set(column, value);
}

/** IIS writes a plus for a blank, CloudFront per cent and digits. */
function readable(value: string): string {
  if (!value.includes("%")) return value.replaceAll("+", " ");
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function describe(reading: Reading, row: ReadonlyMap<string, string>): void {
  const [method, stem, query, status] = ["cs-method", "cs-uri-stem", "cs-uri-query", "sc-status"].map(
    (column) => row.get(column),
  );
  if (method === undefined || stem === undefined) return;
  const code = Number(status);
  const target = query === undefined || query === "-" ? stem : `${stem}?${query}`;
  reading.message = Number.isInteger(code) ? `${method} ${target} ${code}` : `${method} ${target}`;
  if (code >= 100) reading.level = levelOfStatus(code);
  const taken = row.get("time-taken");
  const seconds = Number(taken);
  if (taken === undefined || !Number.isFinite(seconds)) return;
  reading.attributes.delete("time-taken");
  // IIS counts milliseconds; what has a fraction is CloudFront's seconds.
  reading.attributes.set(ATTRIBUTE.duration, taken.includes(".") ? seconds : seconds / MILLIS);
}
