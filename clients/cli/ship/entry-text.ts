import type { NativeEntry } from "../../../ingest/recognise/index.ts";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import {
  ATTRIBUTE_KEY_MAX_CHARS,
  ATTRIBUTE_VALUE_MAX_BYTES,
  ATTRIBUTES_MAX_COUNT,
  ATTRIBUTES_MAX_DEPTH,
  EVENT_ID_MAX_CHARS,
  HOST_MAX_CHARS,
  MESSAGE_MAX_CHARS,
  SERVICE_MAX_CHARS,
  SOURCE_MAX_CHARS,
} from "../limits.ts";
import { entryTimeMs } from "./entry-time.ts";
import { RecognisedText } from "./recognised-text.ts";
import { depthOf } from "./value-depth.ts";
import { type EntryDefaults, LEVELS, type WrittenEntry } from "./written-entry.ts";

/** How lines are understood: `auto` takes a line that is an entry of the API as that entry, any other as text. */
export const LINE_FORMATS = ["auto", "lines", "ndjson"] as const;
export type LineFormat = (typeof LINE_FORMATS)[number];

/** A part of a line that is longer than a message may be. */
interface LinePart {
  /** Where the line begins in the input, in bytes: the same for all its parts. */
  line: number;
  /** Counted from 1. */
  part: number;
  last: boolean;
}

/** Writes entries as JSON text with the defaults filled in. */
export class EntryText {
  readonly #filled: EntryDefaults;
  readonly #defaults: readonly [string, string][];
  readonly #suffix: string;
  readonly #facts: Pick<WrittenEntry, "level" | "service" | "source">;

  readonly recognised: RecognisedText;

  constructor(defaults: EntryDefaults) {
    this.#filled = defaults;
    this.recognised = new RecognisedText(defaults);
    this.#defaults = Object.entries(defaults);
    const { level = null, service = null, source = null } = defaults;
    this.#facts = { level, service, source };
    this.#suffix = this.#defaults
      .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join("");
  }

  /** The entry whose message this is, not empty and at most MESSAGE_MAX_CHARS long. */
  ofText(message: string, part?: LinePart): WrittenEntry {
    const attrs =
      part === undefined
        ? ""
        : `,"attrs":{"_line":${part.line},"_part":${part.part}${part.last ? ',"_last":true' : ""}}`;
    const text = `{"message":${JSON.stringify(message)}${this.#suffix}${attrs}}`;
    const { level, service, source } = this.#facts;
    return { text, timeMs: null, level, service, source };
  }

  /** The entry that a line already is, with its own digits and spelling; null when it is none that the API takes. */
  ofNative(line: string): WrittenEntry | null {
    const text = line.trim();
    if (!text.startsWith("{")) return null;
    const entry = parseJsonOrUndefined(text);
    if (!isRecord(entry) || !isNativeEntry(entry)) return null;
    const missing = this.#defaults.filter(([name]) => !Object.hasOwn(entry, name));
    const facts = { timeMs: entryTimeMs(entry.ts), ...this.#factsOf(entry) };
    if (missing.length === 0) return { text, ...facts };
    const added = missing
      .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join("");
    return { text: `${text.slice(0, -1)}${added}}`, ...facts };
  }

  /** The entry that was made of a line, within what the API takes. */
  ofRecognised(entry: NativeEntry, timeMs: number | null): WrittenEntry {
    const text = JSON.stringify({ ...this.#filled, ...entry });
    return { text, timeMs, ...this.#factsOf(entry) };
  }

  #factsOf(
    entry: Readonly<Partial<Record<"level" | "service" | "source", unknown>>>,
  ): Pick<WrittenEntry, "level" | "service" | "source"> {
    const own = (name: "level" | "service" | "source"): string | null => {
      const value = entry[name];
      return typeof value === "string" ? value : this.#facts[name];
    };
    return { level: own("level"), service: own("service"), source: own("source") };
  }
}

function isNativeEntry(entry: Readonly<Record<string, unknown>>): boolean {
  if (!Object.hasOwn(entry, "message")) return false;
  return Object.entries(entry).every(([name, value]) => {
    switch (name) {
      case "message":
        return isText(value, 1, MESSAGE_MAX_CHARS);
      case "service":
        return isText(value, 1, SERVICE_MAX_CHARS);
      case "source":
        return isText(value, 0, SOURCE_MAX_CHARS);
      case "host":
        return isText(value, 0, HOST_MAX_CHARS);
      case "event_id":
        return isText(value, 1, EVENT_ID_MAX_CHARS);
      case "level":
        return LEVELS.some((level) => level === value);
      case "ts":
        return entryTimeMs(value) !== null;
      case "attrs":
        return isRecord(value) && areAttributes(value);
      default:
        return false;
    }
  });
}

function isText(value: unknown, minChars: number, maxChars: number): boolean {
  // A string has at least half as many code points as UTF-16 units.
  if (typeof value !== "string" || value.length < minChars || value.length > maxChars * 2) return false;
  return value.length <= maxChars || [...value].length <= maxChars;
}

function areAttributes(attrs: Readonly<Record<string, unknown>>): boolean {
  const entries = Object.entries(attrs);
  return (
    entries.length <= ATTRIBUTES_MAX_COUNT &&
    entries.every(([key, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return (
        isText(key, 0, ATTRIBUTE_KEY_MAX_CHARS) &&
        Buffer.byteLength(text) <= ATTRIBUTE_VALUE_MAX_BYTES &&
        depthOf(value) < ATTRIBUTES_MAX_DEPTH
      );
    })
  );
}
