import { isJsonObject } from "../decode/json-body.ts";
import { JSON_MAX_DEPTH } from "../limits.ts";
import type { Level } from "../log-batch.ts";
import type { WholeRecords } from "../mapping/compile-mapping.ts";
import { epochParts } from "../record/record-time.ts";
import { isStorable } from "../timestamp.ts";
import type { Reading } from "./reading.ts";
import type { LineClock } from "./time/line-clock.ts";

/** Takes the fields of a record into a reading, as `RecordWriter` takes them into the store: the first value stays. */
export class ReadingFields implements WholeRecords {
  readonly #reading: Reading;
  readonly #clock: LineClock;
  readonly #needsZone: boolean;
  #hasMessage = false;

  /** With `needsZone` what names no zone is no time. */
  constructor(reading: Reading, clock: LineClock, needsZone = false) {
    this.#reading = reading;
    this.#clock = clock;
    this.#needsZone = needsZone;
  }

  begin(): void {}

  end(): void {}

  message(text: string): void {
    if (this.#hasMessage) return;
    this.#hasMessage = true;
    this.#reading.message = text;
  }

  level(level: Level): void {
    this.#reading.level ??= level;
  }

  service(text: string): void {
    if (text !== "") this.#reading.service ??= text;
  }

  source(text: string): void {
    if (text !== "") this.#reading.source ??= text;
  }

  host(text: string): void {
    if (text !== "") this.#reading.host ??= text;
  }

  traceId(text: string): void {
    if (text !== "") this.#reading.traceId ??= text;
  }

  spanId(text: string): void {
    if (text !== "") this.#reading.spanId ??= text;
  }

  eventId(text: string): void {
    if (text !== "") this.#reading.eventId ??= text;
  }

  timeIso(text: string): boolean {
    const { stamp } = this.#clock;
    if (this.#reading.time !== null) return true;
    if (!stamp.read(text, 0) || stamp.end !== text.length || stamp.east === null) return false;
    this.#reading.time = this.#clock.instant();
    return true;
  }

  timeLocal(text: string): boolean {
    if (this.#reading.time !== null) return true;
    if (this.#needsZone) return false;
    const time = this.#clock.read(text, 0);
    if (time === null || this.#clock.stamp.end !== text.length) return false;
    this.#reading.time = time;
    return true;
  }

  timeEpoch(value: number | string): boolean {
    if (this.#reading.time !== null) return true;
    const parts = epochParts(value);
    return parts !== null && this.timeParts(parts.seconds, parts.nanos);
  }

  timeParts(seconds: number, nanos: number): boolean {
    if (!isStorable(seconds)) return false;
    this.#reading.time ??= { seconds, nanos };
    return true;
  }

  attribute(key: string, value: unknown): void {
    const { attributes } = this.#reading;
    if (value !== undefined && !attributes.has(key)) attributes.set(key, value);
  }

  attributes(prefix: string, object: Readonly<Record<string, unknown>>, depth = 0): void {
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (isJsonObject(value) && Object.keys(value).length > 0 && depth < JSON_MAX_DEPTH)
        this.attributes(`${prefix}${key}.`, value, depth + 1);
      else this.attribute(prefix + key, value);
    }
  }
}
