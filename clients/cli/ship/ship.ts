import { RECORD_EVERY_BATCHES, RECORD_EVERY_MS } from "../limits.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { ByteSource } from "./byte-source.ts";
import type { OpenSession } from "./entry-session.ts";
import { Findings } from "./findings.ts";
import type { Position } from "./position.ts";
import type { ResumeState } from "./resume-file.ts";
import type { Sender } from "./sender.ts";
import { type Checkpoint, emptyTally, type Tally } from "./tally.ts";

export interface ShipOptions {
  sender: Sender;
  /** The bytes of the input from an offset on, up to an end if there is one. `stop` ends a read that waits for more. */
  open: (offset: number, end: number | null, stop: AbortSignal) => ByteSource;
  /** Where to begin. */
  resume: ResumeState;
  /** Makes progress survive this process; absent for an input that cannot be read twice. */
  record?: (state: ResumeState) => Promise<void>;
  openSession: OpenSession;
  /** When the input was changed last, in milliseconds since 1970. */
  modifiedMs: number;
  /** Part of the keys of requests: other options make other requests. */
  optionsDigest: string;
  maxEntries: number;
  /** Batches read ahead of the one that is awaited. */
  concurrency: number;
  lingerMs: number;
  /** Ends reading and trying again; what is being sent is still awaited. */
  interrupted: AbortSignal;
  onProgress: (checkpoint: Checkpoint) => void;
}

export interface ShipResult {
  /** Bytes of input that an earlier run had shipped. */
  resumedAt: number;
  tally: Readonly<Tally>;
  findings: Findings;
  /** Bytes of input behind the last acknowledged batch, counted from where this run began. */
  bytes: number;
}

/**
 * Ships one input to its end. Everything before the recorded position is acknowledged; what was being sent when a run
 * died is sent again under the same keys, for which the server remembers requests long enough (ten minutes at least).
 */
export async function ship(options: ShipOptions): Promise<ShipResult> {
  const progress = new Progress(options);
  // Whatever is sent is sent under keys that the next run knows, should this one die right away.
  await progress.record();
  const tally = emptyTally();
  const { cuts, position } = options.resume;
  // Where the earlier run saw the input end or rest it is cut once more as it was, then read on.
  for (const cut of cuts)
    if (cut > progress.state.position.offset && !options.interrupted.aborted)
      await shipUntil(cut, options, progress, tally);
  if (!options.interrupted.aborted) await shipUntil(null, options, progress, tally);
  if (!options.interrupted.aborted) progress.settleYear();
  await progress.record();
  return {
    resumedAt: position.offset,
    tally: progress.tally,
    findings: progress.findings,
    bytes: progress.state.position.offset - position.offset,
  };
}

/** A batch on its way. */
interface Sending {
  /** Resolves when it and all before it are acknowledged and noted. */
  readonly acknowledged: Promise<void>;
}

async function shipUntil(
  end: number | null,
  options: ShipOptions,
  progress: Progress,
  tally: Tally,
): Promise<void> {
  const { interrupted, concurrency, sender, resume, optionsDigest } = options;
  const from = progress.state.position;
  const failed = new AbortController();
  const stop = AbortSignal.any([interrupted, failed.signal]);
  const batches = readBatches({
    source: options.open(from.offset, end, stop),
    from,
    openSession: options.openSession,
    maxEntries: options.maxEntries,
    tally,
    lingerMs: options.lingerMs,
    sinceMs: resume.sinceMs,
    yearReferenceMs: progress.yearReferenceMs,
  });
  const sending: Sending[] = [];
  let previous: Promise<void> = Promise.resolve();
  const keyOf = ({ start, end }: Batch): string =>
    `ship:${resume.run}:${optionsDigest}:${placeName(start)}-${placeName(end.position)}`;
  try {
    for await (const batch of batches) {
      if (failed.signal.aborted) break;
      // What was read of an input that cannot be read twice is sent in any case.
      if (interrupted.aborted && options.record !== undefined) break;
      if (batch.isCut) await progress.recordCut(batch.end.position.offset);
      while (sending.length >= concurrency) await sending[0]?.acknowledged;
      const sent = batch.entries.length === 0 ? Promise.resolve() : sender.send(keyOf(batch), batch.entries);
      // A failure is thrown where the batch is awaited; until then it must not count as unhandled.
      sent.catch(() => undefined);
      const acknowledged = previous.then(async () => {
        await sent;
        sending.shift();
        await progress.acknowledge(batch, sending.length === 0);
      });
      acknowledged.catch(() => failed.abort());
      previous = acknowledged;
      sending.push({ acknowledged });
    }
    await previous;
  } catch (error) {
    await progress.record();
    throw error;
  }
}

/** Tells a place from every other of the input. */
function placeName({ offset, lineStart, part }: Readonly<Position>): string {
  return part > 0 && lineStart === offset ? `${offset}.${part}` : String(offset);
}

/** How far everything is acknowledged, written down often enough to make the rest after a crash small. */
class Progress {
  readonly #options: ShipOptions;
  /** By which the last line of the input was written: what is sent again after a crash is read as it was. */
  readonly yearReferenceMs: number;
  state: ResumeState;
  tally: Readonly<Tally> = emptyTally();
  readonly findings = new Findings();
  #unrecordedBatches = 0;
  #recordedAt = performance.now();
  #recording: Promise<void> = Promise.resolve();

  constructor(options: ShipOptions) {
    this.#options = options;
    this.yearReferenceMs = options.resume.yearReferenceMs ?? options.modifiedMs;
    this.state = { ...options.resume, yearReferenceMs: this.yearReferenceMs };
  }

  /** `isIdle` when nothing else is on its way. */
  async acknowledge({ end, findings }: Batch, isIdle: boolean): Promise<void> {
    const { offset } = end.position;
    const cuts = this.state.cuts.filter((cut) => cut > offset);
    this.state = { ...this.state, position: end.position, cuts };
    this.tally = end.tally;
    this.findings.merge(findings);
    this.#unrecordedBatches++;
    this.#options.onProgress(end);
    // Where more may come only after the server has forgotten the request, it is noted at once.
    const mayRest = isIdle && Number.isFinite(this.#options.lingerMs);
    if (
      mayRest ||
      this.#unrecordedBatches >= RECORD_EVERY_BATCHES ||
      performance.now() - this.#recordedAt >= RECORD_EVERY_MS
    )
      await this.record();
  }

  /** Nothing is on its way any more: the next run may take what the file then says. */
  settleYear(): void {
    this.state = { ...this.state, yearReferenceMs: null };
  }

  async recordCut(offset: number): Promise<void> {
    this.state = { ...this.state, cuts: [...this.state.cuts.filter((cut) => cut !== offset), offset] };
    await this.record();
  }

  /** Writes down how far it is, after what is being written: what is on the disk never goes back. */
  async record(): Promise<void> {
    this.#unrecordedBatches = 0;
    this.#recordedAt = performance.now();
    const recorded = this.#recording.then(() => this.#options.record?.(this.state));
    this.#recording = recorded.catch(() => undefined);
    await recorded;
  }
}
