import { IngestRejectedError } from "../../errors.ts";
import { type CompiledMapping, compileMapping } from "../../mapping/compile-mapping.ts";
import { presetOf } from "../../mapping/presets/presets.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeLenient } from "../lenient-text.ts";
import { CUT_OFF, END_OF_ENTRY, JournalFields } from "./journal-fields.ts";

const PRESET = "journald";
/** Fields of one entry: beyond that it is no log. */
const FIELDS_MAX_COUNT = 1024;

/**
 * What systemd-journal-upload sends: entries of the journal in its export format, which become what the preset for
 * journald makes of their JSON. An entry that is cut off at the end of the body is rejected by itself.
 */
export class JournalDecoder implements RecordDecoder {
  readonly format = "journal-export";
  readonly #fields = new JournalFields();
  readonly #write: CompiledMapping;

  constructor() {
    const preset = presetOf(PRESET);
    if (preset === null) throw new Error(`there is no preset ${PRESET}`);
    this.#write = compileMapping(preset.mapping);
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const fields = this.#fields;
    fields.at = 0;
    let count = 0;
    while (fields.at < body.length) {
      const start = fields.at;
      const entry = this.#readEntry(body);
      if (entry !== null && entry.size === 0) continue;
      const place = `/${count++}`;
      const raw = body.subarray(start, fields.at);
      const reason =
        entry === null ? "is cut off or has too many fields" : this.#write(objectOf(entry), writer);
      if (reason !== null) writer.reject({ place, reason, raw });
    }
    if (count > 0) return;
    const message = "the body holds no entry";
    throw new IngestRejectedError(message, [{ path: "", code: "too_small", message }]);
  }

  /** The fields of the next entry, and behind it; null, and at the end of the body, when it is none. */
  #readEntry(body: Uint8Array): Map<string, string | string[]> | null {
    const fields = this.#fields;
    const entry = new Map<string, string | string[]>();
    let count = 0;
    while (fields.at < body.length) {
      const found = fields.next(body, body.length);
      if (found === END_OF_ENTRY) return entry;
      if (found === CUT_OFF || count++ === FIELDS_MAX_COUNT) {
        fields.at = body.length;
        return null;
      }
      const name = decodeLenient(body, fields.nameStart, fields.nameEnd);
      const value = decodeLenient(body, fields.start, fields.stop);
      const known = entry.get(name);
      if (known === undefined) entry.set(name, value);
      else if (Array.isArray(known)) known.push(value);
      else entry.set(name, [known, value]);
    }
    return entry;
  }
}

function objectOf(entry: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entry);
}
