import { join } from "node:path";
import { AgeIndex } from "./age-index.ts";
import { TEMPORARY_SUFFIX } from "./atomic-file.ts";
import { DamagedRegions } from "./damaged-regions.ts";
import { alignUp } from "./format.ts";
import { findIdentity, newIdentity } from "./identity.ts";
import type { WalIo } from "./io.ts";
import { listKeyFiles } from "./key-files.ts";
import { Ledger } from "./ledger.ts";
import type { LedgerState } from "./ledger-slot.ts";
import { LOST_LEDGER_JUMP_BYTES } from "./limits.ts";
import type { Reserve } from "./reserve.ts";
import { type Segment, Segments, segmentBase, segmentEnd } from "./segments.ts";
import { type RecoveryCounts, settleSegment } from "./settle.ts";
import { type Survey, settlePartial, surveySegment } from "./survey.ts";
import type { WalRecovery } from "./types.ts";

/** Where the log keeps its files. */
export interface WalPaths {
  readonly directory: string;
  readonly keys: string;
  readonly damaged: string;
}

/** The log as it was found and set right. */
export interface Recovered {
  readonly segments: Segments;
  readonly ledgerState: LedgerState;
  readonly damagedRegions: DamagedRegions;
  readonly ages: AgeIndex;
  /** Above every position that was ever acknowledged or read. */
  readonly nextPosition: number;
  readonly report: WalRecovery;
}

/**
 * Opens what a former process left, however it ended. Creates the directories and the ledger when they are missing.
 * Rejects only when the file system itself fails.
 */
export async function recover(io: WalIo, paths: WalPaths, reserve: Reserve): Promise<Recovered> {
  for (const path of [paths.directory, paths.keys, paths.damaged]) {
    await io.makeDirectory(path);
    await removeTemporaryFiles(io, path);
  }
  const damagedRegions = new DamagedRegions(io, paths.damaged);
  await damagedRegions.load();
  const found = await listSegments(io, paths.directory);
  const { state, ledgerLost } = await loadLedger(io, paths, found, reserve);
  const nextPosition = alignUp(Math.max(endOf(found), state.intentEnd, state.positionFloor));

  const ages = new AgeIndex();
  const surveys: Survey[] = [];
  for (const segment of found) surveys.push(await surveySegment(io, segment, state.identity, ages));
  ages.advance(state.flushedThrough);

  const { identity } = state;
  const provenEnd = provenEndOf(surveys, state);
  for (const survey of surveys) settlePartial(survey, provenEnd);
  const counts = countRecords(surveys, ledgerLost);
  const context = { io, identity, provenEnd, damagedRegions, reserve, counts };
  const segments = new Segments();
  for (const survey of surveys) {
    await settleSegment(survey, context);
    if (survey.segment.bytes > 0) segments.add(survey.segment);
    else await io.unlink(survey.segment.path);
  }
  await io.syncDirectory(paths.directory);
  return { segments, ledgerState: state, damagedRegions, ages, nextPosition, report: counts };
}

async function removeTemporaryFiles(io: WalIo, directory: string): Promise<void> {
  for (const { name } of await io.list(directory)) {
    if (name.endsWith(TEMPORARY_SUFFIX)) await io.unlink(join(directory, name));
  }
}

async function listSegments(io: WalIo, directory: string): Promise<Segment[]> {
  const segments: Segment[] = [];
  for (const { name, bytes } of await io.list(directory)) {
    const base = segmentBase(name);
    if (base !== undefined)
      segments.push({ base, path: join(directory, name), bytes, keyBytes: 0, newestMs: 0 });
  }
  return segments.sort((a, b) => a.base - b.base);
}

/**
 * The ledger's state, or a new one. In place of a lost ledger comes one with the identity of the records that are left,
 * which says that nothing was flushed and lets new positions begin beyond all that may have been used. The flusher looks
 * up in the store what it has of them.
 */
async function loadLedger(
  io: WalIo,
  paths: WalPaths,
  segments: readonly Segment[],
  reserve: Reserve,
): Promise<{ state: LedgerState; ledgerLost: boolean }> {
  const loaded = await Ledger.load(io, paths.directory);
  if (loaded !== undefined) return { state: loaded, ledgerLost: false };
  const keyFiles = await listKeyFiles(io, paths.keys);
  const ledgerLost = segments.length + keyFiles.length > 0 || (await Ledger.exists(io, paths.directory));
  const identity = await findIdentity(io, [...segments, ...keyFiles]);
  const highest = Math.max(endOf(segments), keyFiles.at(-1)?.base ?? 0);
  const state: LedgerState = {
    sequence: 0,
    identity: identity ?? newIdentity(),
    flushedThrough: 0,
    intentEnd: 0,
    positionFloor: ledgerLost ? alignUp(highest) + LOST_LEDGER_JUMP_BYTES : 0,
  };
  await reserve.spend(() => Ledger.create(io, paths.directory, state));
  return { state, ledgerLost };
}

function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last === undefined ? 0 : segmentEnd(last);
}

/** A segment is created only after all before it is durable; the rest is what records and the ledger say. */
function provenEndOf(surveys: readonly Survey[], ledger: LedgerState): number {
  const newestBase = surveys.at(-1)?.segment.base ?? 0;
  return surveys.reduce(
    (highest, survey) => Math.max(highest, survey.provenEnd),
    Math.max(newestBase, ledger.intentEnd),
  );
}

function countRecords(surveys: readonly Survey[], ledgerLost: boolean): RecoveryCounts {
  const counts: RecoveryCounts = {
    recordsRecovered: 0,
    bytesRecovered: 0,
    recordsRepaired: 0,
    recordsDamaged: 0,
    bytesDamaged: 0,
    recordsTorn: 0,
    bytesCut: 0,
    ledgerLost,
  };
  for (const survey of surveys) {
    counts.recordsRecovered += survey.records;
    counts.bytesRecovered += survey.recordBytes;
    counts.recordsRepaired += survey.repaired;
  }
  return counts;
}
