import { isoText, type RecognisedEntry } from "../../../ingest/recognise/index.ts";
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
import { isStorable } from "./entry-time.ts";
import { RESERVED_ATTRIBUTES } from "./fit-entry.ts";
import { depthOf } from "./value-depth.ts";
import type { EntryDefaults, WrittenEntry } from "./written-entry.ts";

/** Members that an entry may be given by default, in the order in which they follow the time. */
const DEFAULTED = ["level", "service", "source", "host"] as const;
const MAX_CHARS = { level: 16, service: SERVICE_MAX_CHARS, source: SOURCE_MAX_CHARS, host: HOST_MAX_CHARS };
const UTF8_MAX_BYTES_PER_UNIT = 3;
/** Characters that JSON writes as they are. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** What an object puts in front of its other members. */
const BEGINS_AS_INDEX = /^\d/;
/** Names of attributes of which it is remembered how they are written: those that come again are few. */
const KEYS_MAX = 10_000;

/**
 * Writes entries as they were recognised straight as JSON, the very text that `EntryText.ofRecognised` makes of what
 * `fitEntry` leaves: most entries are within what the API takes, and need no object in between.
 */
export class RecognisedText {
  readonly #defaults: EntryDefaults;
  readonly #given: readonly (typeof DEFAULTED)[number][];
  readonly #others: readonly (typeof DEFAULTED)[number][];
  /** How members are written, by what they hold: of the latest value, as most entries have that of the one before. */
  readonly #written = new Map<string, { readonly value: string; readonly text: string }>();
  /** Names of attributes as they are written, with the comma in front; null for one that is not. */
  readonly #keys = new Map<string, string | null>();

  constructor(defaults: EntryDefaults) {
    this.#defaults = defaults;
    this.#given = Object.keys(defaults).flatMap((name) => DEFAULTED.filter((known) => known === name));
    this.#others = DEFAULTED.filter((name) => !this.#given.includes(name));
  }

  /** Null for an entry of which something has to be cut, or that is written otherwise for another reason. */
  of(entry: RecognisedEntry): WrittenEntry | null {
    const { message, time, eventId, goesOn } = entry;
    if (goesOn || message === "" || message.length > MESSAGE_MAX_CHARS) return null;
    if (time !== null && !isStorable(time.seconds)) return null;
    for (const name of DEFAULTED) if ((entry[name]?.length ?? 0) > MAX_CHARS[name]) return null;
    const attrs = this.#attributesText(entry);
    if (attrs === null) return null;
    let text = "{";
    for (const name of this.#given) text += `${this.#member(name, this.#valueOf(entry, name) ?? "")},`;
    text += `"message":${quoted(message)}`;
    if (time !== null) text += `,"ts":"${isoText(time)}"`;
    for (const name of this.#others) {
      const value = this.#valueOf(entry, name);
      if (value !== null) text += `,${this.#member(name, value)}`;
    }
    if (eventId !== null) {
      if (eventId === "" || eventId.length > EVENT_ID_MAX_CHARS) return null;
      text += `,"event_id":${quoted(eventId)}`;
    }
    return {
      text: `${text}${attrs}}`,
      timeMs: time === null ? null : time.seconds * 1000 + Math.floor(time.nanos / 1_000_000),
      level: this.#valueOf(entry, "level"),
      service: this.#valueOf(entry, "service"),
      source: this.#valueOf(entry, "source"),
    };
  }

  #valueOf(entry: RecognisedEntry, name: (typeof DEFAULTED)[number]): string | null {
    const own = entry[name];
    return own === null || (name === "service" && own === "") ? (this.#defaults[name] ?? null) : own;
  }

  #member(name: string, value: string): string {
    const latest = this.#written.get(name);
    if (latest?.value === value) return latest.text;
    const text = `"${name}":${quoted(value)}`;
    this.#written.set(name, { value, text });
    return text;
  }

  /** With the comma in front; empty where there are none, null where one has to be cut. */
  #attributesText({ attributes, traceId, spanId }: RecognisedEntry): string | null {
    if (attributes.size > ATTRIBUTES_MAX_COUNT - RESERVED_ATTRIBUTES - 2) return null;
    let text = "";
    for (const [key, value] of attributes) {
      const name = this.#keyText(key);
      const written = name === null ? null : valueText(value);
      if (written === null) return null;
      // The first comes behind the brace.
      text += text === "" ? `${name?.slice(1)}${written}` : `${name}${written}`;
    }
    for (const [key, id] of [
      ["trace_id", traceId],
      ["span_id", spanId],
    ] as const) {
      if (id === null) continue;
      if (attributes.has(key)) return null;
      text += `${text === "" ? "" : ","}"${key}":${quoted(id)}`;
    }
    return text === "" ? "" : `,"attrs":{${text}}`;
  }

  #keyText(key: string): string | null {
    let text = this.#keys.get(key);
    if (text === undefined) {
      text = key.length > ATTRIBUTE_KEY_MAX_CHARS || BEGINS_AS_INDEX.test(key) ? null : `,${quoted(key)}:`;
      if (this.#keys.size >= KEYS_MAX) this.#keys.clear();
      this.#keys.set(key, text);
    }
    return text;
  }
}

function valueText(value: unknown): string | null {
  if (typeof value === "string" && value.length * UTF8_MAX_BYTES_PER_UNIT < ATTRIBUTE_VALUE_MAX_BYTES)
    return quoted(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (value === undefined) return null;
  if (typeof value === "object" && value !== null && depthOf(value) >= ATTRIBUTES_MAX_DEPTH) return null;
  const text = JSON.stringify(value);
  return text.length * UTF8_MAX_BYTES_PER_UNIT <= ATTRIBUTE_VALUE_MAX_BYTES ? text : null;
}

/** As `JSON.stringify` writes a text, which is slower for one that needs no escapes. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
