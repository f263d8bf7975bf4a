import type { AgeIndex } from "./age-index.ts";
import type { WalIo } from "./io.ts";
import { SURVEY_WINDOW_BYTES } from "./limits.ts";
import type { ScannedHole, ScannedRecord } from "./scan.ts";
import { scanFile } from "./segment-scan.ts";
import { type Segment, segmentEnd } from "./segments.ts";

const NO_BYTES = new Uint8Array(0);

/** What one segment holds. */
export interface Survey {
  readonly segment: Segment;
  readonly holes: ScannedHole[];
  records: number;
  recordBytes: number;
  repaired: number;
  /**
   * Readable records of appends that are not whole, those of one append together. Whether they count shows when it is
   * known what was durable; until then they are not among the records.
   */
  readonly partial: (readonly [ScannedRecord, ...ScannedRecord[]])[];
  /** End of the last record that counts; the segment's base when there is none. */
  readableEnd: number;
  /** The highest position that a record here proves to have been durable. */
  provenEnd: number;
}

/** Reads a whole segment, fills in what `Segment` remembers of its records, and lists what is unreadable. */
export async function surveySegment(
  io: WalIo,
  segment: Segment,
  identity: bigint,
  ages: AgeIndex,
): Promise<Survey> {
  const { base, path, bytes } = segment;
  const survey: Survey = {
    segment,
    holes: [],
    partial: [],
    records: 0,
    recordBytes: 0,
    repaired: 0,
    readableEnd: base,
    provenEnd: base,
  };
  const appends = new AppendsInOrder(survey, ages);
  const file = await io.open(path, "read");
  try {
    const range = { base, from: base, end: base + bytes };
    for await (const items of scanFile(file, range, identity, SURVEY_WINDOW_BYTES)) {
      for (const item of items) {
        if (item.kind === "hole") survey.holes.push(item);
        else appends.add(item);
      }
    }
  } finally {
    await file.close();
  }
  appends.end();
  return survey;
}

/** Counts the records of appends that are not whole if they were durable once; nobody was told of the others, which become holes. */
export function settlePartial(survey: Survey, provenEnd: number): void {
  for (const records of survey.partial) {
    const [{ header: first }] = records;
    const { start, end } = first.append;
    if (provenEnd > start) {
      for (const record of records) countRecord(survey, record);
      continue;
    }
    // Where the file ends before the append does it was never acknowledged; else it may have been, and rotted since.
    const reason = end > segmentEnd(survey.segment) ? "incomplete" : "payload";
    survey.holes.push({ kind: "hole", start: first.start, end: records.at(-1)?.header.end ?? end, reason });
  }
  survey.holes.sort((a, b) => a.start - b.start);
}

/** Gathers the records of a segment by what was appended together. */
class AppendsInOrder {
  readonly #survey: Survey;
  readonly #ages: AgeIndex;
  #records: ScannedRecord[] = [];

  constructor(survey: Survey, ages: AgeIndex) {
    this.#survey = survey;
    this.#ages = ages;
  }

  add(record: ScannedRecord): void {
    const { start, end, append, durableBefore } = record.header;
    this.#survey.provenEnd = Math.max(this.#survey.provenEnd, durableBefore);
    const last = this.#records.at(-1)?.header;
    if (last !== undefined && (last.end !== start || last.append.start !== append.start)) this.end();
    // Its payload is not looked at again.
    this.#records.push({ ...record, payload: NO_BYTES });
    if (end === append.end) this.end();
  }

  /** No other record of the present append follows. */
  end(): void {
    const [first, ...others] = this.#records;
    if (first === undefined) return;
    this.#records = [];
    const { append } = first.header;
    const isWhole = first.header.start === append.start && (others.at(-1) ?? first).header.end === append.end;
    if (!isWhole) {
      this.#survey.partial.push([first, ...others]);
      return;
    }
    for (const record of [first, ...others]) {
      countRecord(this.#survey, record);
      if (record.header.rows > 0) this.#ages.add(record.header.end, record.header.receivedAtMs);
    }
  }
}

function countRecord(survey: Survey, { header, repaired }: ScannedRecord): void {
  const { start, end, rows, keyBytes, receivedAtMs } = header;
  survey.readableEnd = Math.max(survey.readableEnd, end);
  if (repaired) survey.repaired++;
  if (rows === 0) return;
  survey.records++;
  survey.recordBytes += end - start;
  const { segment } = survey;
  segment.keyBytes += keyBytes;
  segment.newestMs = Math.max(segment.newestMs, receivedAtMs);
}
