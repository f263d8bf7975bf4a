import type { DamagedRegions } from "./damaged-regions.ts";
import { encodeVoid, HEADER_BYTES } from "./format.ts";
import { readFully, type WalFile, type WalIo, writeFully } from "./io.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import type { Reserve } from "./reserve.ts";
import type { ScannedHole } from "./scan.ts";
import { type Segment, segmentEnd } from "./segments.ts";
import type { Survey } from "./survey.ts";
import type { WalDamage, WalRecovery } from "./types.ts";

export type RecoveryCounts = { -readonly [K in keyof WalRecovery]: WalRecovery[K] };

interface SettleContext {
  readonly io: WalIo;
  readonly identity: bigint;
  /** Everything below was durable once; what is unreadable there is damage, what is unreadable above is torn. */
  readonly provenEnd: number;
  readonly damagedRegions: DamagedRegions;
  readonly reserve: Reserve;
  readonly counts: RecoveryCounts;
}

/**
 * Cuts the torn end of a surveyed segment, copies what was damaged, and writes again what was never proven durable:
 * the page cache may show bytes that a failed sync never brought to the disk, and nothing may be built on those.
 */
export async function settleSegment(survey: Survey, context: SettleContext): Promise<void> {
  const { segment, holes, readableEnd } = survey;
  const { io, provenEnd, counts } = context;
  const end = segmentEnd(segment);
  if (holes.length === 0 && provenEnd >= end) return;
  const file = await io.open(segment.path, "update");
  try {
    for (const hole of holes) await settleHole(file, survey, hole, context);
    const cutAt = Math.max(readableEnd, Math.min(provenEnd, end));
    if (cutAt < end) {
      counts.bytesCut += end - cutAt;
      segment.bytes = cutAt - segment.base;
      await file.truncate(segment.bytes);
      await file.sync();
    }
    await context.reserve.spend(() => rewriteFrom(file, segment, provenEnd));
  } finally {
    await file.close();
  }
}

/** Counts a hole and keeps a copy. The hole behind a lost header may begin as damage and end torn. */
async function settleHole(
  file: WalFile,
  { segment, readableEnd }: Survey,
  hole: ScannedHole,
  context: SettleContext,
): Promise<void> {
  const { provenEnd, damagedRegions, counts } = context;
  const { base } = segment;
  const { start, end } = hole;
  const border = Math.min(Math.max(provenEnd, start), end);
  if (start < border) {
    count(counts, "damaged", border - start);
    await damagedRegions.preserve(file, { base, start, end: border, kind: "damaged" });
  }
  if (border === end) return;
  count(counts, "torn", end - border);
  // An incomplete record was certainly never acknowledged; a complete one may have been, and rotted since.
  if (hole.reason !== "incomplete" && !(await isBlank(file, segment, border, end))) {
    await damagedRegions.preserve(file, { base, start: border, end, kind: "torn" });
  }
  if (end < readableEnd) await voidTorn(file, segment, border, end, context);
}

/**
 * Puts a void record over torn bytes that readable records follow, as when a power cut kept the end of a group and not
 * its beginning: later on, nothing would tell them from damage.
 */
async function voidTorn(
  file: WalFile,
  segment: Segment,
  start: number,
  end: number,
  { identity, provenEnd }: SettleContext,
): Promise<void> {
  const size = end - start;
  // Never so for what a group's torn write leaves; whatever else it is, the next start calls it damage.
  if (size < HEADER_BYTES || size > RECORD_BYTES_MAX) return;
  const record = encodeVoid(size, { position: start, identity, durableBefore: provenEnd });
  await writeFully(file, record, start - segment.base);
}

function count(counts: RecoveryCounts, kind: WalDamage["kind"], bytes: number): void {
  if (kind === "torn") {
    counts.recordsTorn++;
    return;
  }
  counts.recordsDamaged++;
  counts.bytesDamaged += bytes;
}

async function isBlank(file: WalFile, segment: Segment, start: number, end: number): Promise<boolean> {
  const bytes = await readFully(file, start - segment.base, end - start);
  return bytes.every((byte) => byte === 0);
}

async function rewriteFrom(file: WalFile, segment: Segment, from: number): Promise<void> {
  const start = Math.max(from, segment.base);
  const end = segmentEnd(segment);
  if (start >= end) return;
  await writeFully(file, await readFully(file, start - segment.base, end - start), start - segment.base);
  await file.datasync();
}
