const TIME = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?$/;
const SIGNIFICANT_DIGITS = 9;

/** The rows of an answer as one text, whatever their order and however times, numbers and arrays, as sets, are written. */
export function answerText(rows: readonly (readonly unknown[])[]): string {
  return rows
    .map((row) => JSON.stringify(row.map(canonical)))
    .sort()
    .join("\n");
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return JSON.stringify(value.map(canonical).sort());
  if (typeof value === "number") return String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
  if (typeof value !== "string") return String(value);
  if (value.startsWith("[") && value.endsWith("]")) return arrayText(value);
  return TIME.test(value) ? nanosecondsText(value) : value;
}

/** A message may stand in brackets without being an array. */
function arrayText(value: string): string {
  try {
    return canonical(JSON.parse(value));
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
}

function nanosecondsText(time: string): string {
  const [seconds = "", fraction = ""] = time.replace("Z", "").split(".");
  const ms = BigInt(Date.parse(`${seconds.replace(" ", "T")}Z`));
  return String(ms * 1_000_000n + BigInt(fraction.padEnd(9, "0")));
}
