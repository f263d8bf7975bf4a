import type { RecordField } from "../record/json-record-keys.ts";
import type { RecordFields } from "../record/record-fields.ts";
import { LineReader } from "./read-line.ts";
import type { Reading } from "./reading.ts";
import { LineClock } from "./time/line-clock.ts";
import { writeRecognised } from "./write-entry.ts";

/** After so long the year of times without one is found anew. */
const CLOCK_MAX_AGE_MS = 3_600_000;
const NOTHING: ReadonlySet<RecordField> = new Set();
const WITHOUT_TIME: ReadonlySet<RecordField> = new Set<RecordField>(["time"]);
const MESSAGE_ALONE: ReadonlySet<RecordField> = new Set<RecordField>(["message"]);
/** What a reading may say. */
const FIELDS = ["time", "level", "message", "service", "source", "host", "traceId", "spanId"] as const;

/**
 * Reads messages that other formats carry, each by itself: nothing of one sender's lines counts for another's. What is not
 * whole without a following line is not recognised.
 */
export class BodyReader {
  readonly #now: () => number;
  #clock: LineClock;
  #clockAtMs: number;
  /** The last text said its time beyond doubt. */
  #isTimeSure = false;

  constructor(now: () => number) {
    this.#now = now;
    this.#clockAtMs = now();
    this.#clock = new LineClock({ yearReferenceMs: this.#clockAtMs });
  }

  /**
   * Writes what a text says into the record that is open, at least the message. `hasTime` says that the record is known to
   * be of another time, which counts unless the text names its own together with the zone. Answers the fields that are
   * written now.
   */
  write(text: string, writer: RecordFields, hasTime: boolean): ReadonlySet<RecordField> {
    const reading = this.#read(text, hasTime);
    if (reading === null) {
      writer.message(text);
      return MESSAGE_ALONE;
    }
    const given = hasTime && !this.#isTimeSure ? WITHOUT_TIME : NOTHING;
    writeRecognised(writer, reading, given);
    for (const [key, value] of reading.attributes) writer.attribute(key, value);
    return new Set(FIELDS.filter((field) => reading[field] !== null && !given.has(field)));
  }

  #read(text: string, hasTime: boolean): Reading | null {
    const nowMs = this.#now();
    if (Math.abs(nowMs - this.#clockAtMs) > CLOCK_MAX_AGE_MS) {
      this.#clockAtMs = nowMs;
      this.#clock = new LineClock({ yearReferenceMs: nowMs });
    }
    const guessed = this.#clock.withoutZone + this.#clock.withoutYear;
    const reading = new LineReader(this.#clock).inner(text, hasTime);
    this.#isTimeSure = this.#clock.withoutZone + this.#clock.withoutYear === guessed;
    return reading === null || !reading.isHead || reading.awaitsLine ? null : reading;
  }
}
