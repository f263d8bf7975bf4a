import type { AgeIndex } from "./age-index.ts";
import type { WalIo } from "./io.ts";
import { SURVEY_WINDOW_BYTES } from "./limits.ts";
import type { ScannedHole, ScannedRecord } from "./scan.ts";
import { scanFile } from "./segment-scan.ts";
import type { Segment } from "./segments.ts";

/** What one segment holds. */
export interface Survey {
  readonly segment: Segment;
  readonly holes: ScannedHole[];
  records: number;
  recordBytes: number;
  repaired: number;
  /** End of the last readable record; the segment's base when there is none. */
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
    records: 0,
    recordBytes: 0,
    repaired: 0,
    readableEnd: base,
    provenEnd: base,
  };
  const file = await io.open(path, "read");
  try {
    const range = { base, from: base, end: base + bytes };
    for await (const items of scanFile(file, range, identity, SURVEY_WINDOW_BYTES)) {
      for (const item of items) {
        if (item.kind === "hole") {
          survey.holes.push(item);
          continue;
        }
        addRecord(survey, item);
        if (item.header.rows > 0) ages.add(item.header.end, item.header.receivedAtMs);
      }
    }
  } finally {
    await file.close();
  }
  return survey;
}

function addRecord(survey: Survey, { header, repaired }: ScannedRecord): void {
  const { start, end, rows, keyBytes, receivedAtMs, durableBefore } = header;
  survey.readableEnd = end;
  survey.provenEnd = Math.max(survey.provenEnd, durableBefore);
  if (repaired) survey.repaired++;
  if (rows === 0) return;
  survey.records++;
  survey.recordBytes += end - start;
  const { segment } = survey;
  segment.keyBytes += keyBytes;
  segment.newestMs = Math.max(segment.newestMs, receivedAtMs);
}
