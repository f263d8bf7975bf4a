const RESET = "\u001b[0m";
const DIM = "\u001b[2m";
const LEVELS: Readonly<Record<number, { readonly name: string; readonly color: string }>> = {
  10: { name: "trace", color: "\u001b[90m" },
  20: { name: "debug", color: "\u001b[36m" },
  30: { name: "info ", color: "\u001b[32m" },
  40: { name: "warn ", color: "\u001b[33m" },
  50: { name: "error", color: "\u001b[31m" },
  60: { name: "fatal", color: "\u001b[1;31m" },
};
/** Fields that a person at the terminal of the server knows, or that stand at the head of the line. */
const NOT_SHOWN = new Set(["level", "time", "pid", "hostname", "msg", "err"]);
/** What a terminal would obey and JSON leaves as it is, and the marks that reorder text. */
const CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A line of the log for a person at a terminal: time, level, message, fields. Null for a request that went well, which are too
 * many to read.
 */
export function terminalLine(json: string, { color }: { readonly color: boolean }): string | null {
  const record: Readonly<Record<string, unknown>> = JSON.parse(json);
  if (record.msg === "request" && typeof record.status === "number" && record.status < 400) return null;
  const level = LEVELS[Number(record.level)] ?? { name: String(record.level), color: "" };
  const paint = (code: string, text: string): string => (color ? `${code}${text}${RESET}` : text);
  const fields = Object.entries(record).flatMap(([name, value]) =>
    NOT_SHOWN.has(name) ? [] : [`${name}=${wordOrJson(value)}`],
  );
  const { err } = record;
  if (typeof err === "object" && err !== null && "message" in err)
    fields.push(`err=${wordOrJson(err.message)}`);
  const parts = [
    paint(DIM, String(record.time).slice(11, 19)),
    paint(level.color, level.name),
    plain(String(record.msg ?? "")),
    ...(fields.length > 0 ? [paint(DIM, fields.join(" "))] : []),
  ];
  const stack = stackOf(err).map((line) => `\n    ${paint(DIM, line)}`);
  return `${parts.join(" ")}${stack.join("")}\n`;
}

function wordOrJson(value: unknown): string {
  return typeof value === "string" && /^[\w./:+-]+$/.test(value) ? value : plain(JSON.stringify(value) ?? "");
}

function plain(text: string): string {
  // JSON escapes the controls of C0; a message has to be brought to the same.
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("\\\\", "\\")
    .replace(CONTROLS, "\ufffd");
}

/** Where the error came from; its own message stands on the line above. */
function stackOf(err: unknown): string[] {
  if (typeof err !== "object" || err === null || !("stack" in err)) return [];
  return String(err.stack)
    .split("\n")
    .flatMap((line) => (/^\s*at /.test(line) ? [plain(line.trim())] : []));
}
