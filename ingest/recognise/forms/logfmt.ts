import { writeJsonRecord } from "../../record/json-record.ts";
import { PAIRS_MAX_COUNT } from "../limits.ts";
import type { LineForm } from "../line-form.ts";
import { Reading } from "../reading.ts";
import { ReadingFields } from "../reading-fields.ts";

const PAIR = /([A-Za-z_@][^\s="]{0,254})(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*)))?(?: +|$)/y;
/** A line with one of these is a log's; any other row of pairs may be anything. */
const KNOWN = /(?:^| )(?:level|lvl|severity|msg|message|ts|time|timestamp|t)=/;
const START = /^[A-Za-z_@][^\s="]{0,254}=/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/;
const PAIRS_MIN_COUNT = 2;
const MINUS = 0x2d;
const NINE = 0x39;
const LETTER_F = 0x66;
const LETTER_T = 0x74;

/** `time=2026-01-02T03:04:05Z level=info msg="ledger is open" duration=12` */
export const LOGFMT_FORM: LineForm = {
  name: "logfmt",
  read: (text, { clock, needsZone }) => {
    if (!START.test(text) || !KNOWN.test(text)) return null;
    const pairs = pairsOf(text);
    if (pairs === null) return null;
    const reading = new Reading("logfmt", "");
    const fields = new ReadingFields(reading, clock, needsZone);
    // Of log15 and its kin.
    const brief = pairs.get("t");
    if (typeof brief === "string" && !pairs.has("time") && !pairs.has("ts") && fields.timeIso(brief))
      pairs.delete("t");
    writeJsonRecord(fields, Object.fromEntries(pairs));
    if (!pairs.has("msg") && !pairs.has("message") && reading.message.startsWith("{")) reading.message = text;
    return reading;
  },
};

/** The pairs of a line that consists of nothing else; null of any other. */
function pairsOf(text: string): Map<string, unknown> | null {
  const pairs = new Map<string, unknown>();
  let at = 0;
  let values = 0;
  while (at < text.length) {
    PAIR.lastIndex = at;
    const match = PAIR.exec(text);
    if (match === null || pairs.size === PAIRS_MAX_COUNT) return null;
    const [whole, key = "", quoted, plain] = match;
    if (pairs.has(key)) return null;
    const isFlag = quoted === undefined && plain === undefined;
    if (!isFlag) values++;
    pairs.set(key, isFlag ? true : quoted === undefined ? plainValue(plain ?? "") : unescaped(quoted));
    at += whole.length;
  }
  // Words without a value are flags among pairs, not a sentence with a pair in it.
  return values >= PAIRS_MIN_COUNT && values * 2 > pairs.size ? pairs : null;
}

function plainValue(text: string): unknown {
  const first = text.charCodeAt(0);
  if (first !== LETTER_T && first !== LETTER_F && (first < MINUS || first > NINE)) return text;
  if (text === "true" || text === "false") return text === "true";
  return NUMBER.test(text) && String(Number(text)) === text ? Number(text) : text;
}

function unescaped(text: string): string {
  return text.includes("\\") ? text.replace(/\\(.)/g, (_, unit: string) => ESCAPES[unit] ?? unit) : text;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
