import { setTimeout } from "node:timers/promises";
import type { ApiClient } from "../../api/client.ts";
import { RECORD_EVERY_BATCHES, RECORD_EVERY_MS } from "../limits.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { ByteSource } from "./byte-source.ts";
import type { EntryText, LineFormat } from "./entry-text.ts";
import type { ResumeState } from "./resume-file.ts";
import { Sender } from "./sender.ts";
import { type Checkpoint, emptyTally, type Tally } from "./tally.ts";

/** Where bytes come from, from an offset on and up to an end, if there is one. */
type OpenSource = (offset: number, end: number | null) => ByteSource;

export interface ShipOptions {
  api: ApiClient;
  open: OpenSource;
  /** Where to begin. */
  resume: ResumeState;
  /** Makes progress survive this process; absent for an input that cannot be read twice. */
  record?: (state: ResumeState) => Promise<void>;
  format: LineFormat;
  entryText: EntryText;
  /** Part of the keys of requests: other options make other requests. */
  optionsDigest: string;
  maxEntries: number;
  concurrency: number;
  gzip: boolean;
  lingerMs: number;
  giveUpMs: number;
  /** Ends reading and trying again; what is being sent is still awaited. */
  interrupted: AbortSignal;
  /** Told now and then why nothing moves. */
  onStall: (message: string) => void;
  onProgress: (checkpoint: Checkpoint) => void;
}

export interface ShipResult {
  /** Bytes of input that an earlier run had shipped. */
  resumedAt: number;
  tally: Tally;
  /** Bytes of input behind the last acknowledged batch, counted from where this run began. */
  bytes: number;
  retries: number;
}

/**
 * Ships the input to its end. Everything before the recorded position is acknowledged; what was being sent when a run
 * died is sent again under the same keys, for which the server remembers requests long enough (ten minutes at least).
 */
export async function ship(options: ShipOptions): Promise<ShipResult> {
  const progress = new Progress(options);
  const sender = new Sender({
    api: options.api,
    gzip: options.gzip,
    keyPrefix: `ship:${options.resume.run}:${options.optionsDigest}`,
    giveUpMs: options.giveUpMs,
    resumable: options.record !== undefined,
    now: Date.now,
    random: Math.random,
    interrupted: options.interrupted,
    onStall: options.onStall,
    sleep: (ms) => setTimeout(ms, undefined, { signal: options.interrupted }).catch(() => undefined),
  });
  // Whatever is sent is sent under keys that the next run knows, should this one die right away.
  await progress.record();
  const tally = emptyTally();
  const { inputEnd, position } = options.resume;
  // The earlier run saw the input end here: cut the last batch as it did, then read on.
  if (inputEnd !== null && inputEnd > position.offset)
    await shipUntil(inputEnd, options, sender, progress, tally);
  if (!options.interrupted.aborted) await shipUntil(null, options, sender, progress, tally);
  await progress.record();
  return {
    resumedAt: position.offset,
    tally: progress.tally,
    bytes: progress.state.position.offset - position.offset,
    retries: sender.retries,
  };
}

async function shipUntil(
  end: number | null,
  options: ShipOptions,
  sender: Sender,
  progress: Progress,
  tally: Tally,
): Promise<void> {
  const from = progress.state.position;
  const batches = readBatches({
    source: options.open(from.offset, end),
    from,
    format: options.format,
    entryText: options.entryText,
    maxEntries: options.maxEntries,
    tally,
    lingerMs: options.lingerMs,
  });
  const sending: { batch: Batch; done: Promise<void> }[] = [];
  const awaitFirst = async (): Promise<void> => {
    const first = sending[0];
    if (first === undefined) return;
    await first.done;
    sending.shift();
    await progress.acknowledge(first.batch);
  };
  try {
    for await (const batch of batches) {
      // What was read of an input that cannot be read twice is sent in any case.
      if (options.interrupted.aborted && options.record !== undefined) break;
      if (batch.atInputEnd) await progress.recordInputEnd(batch.end.position.offset);
      while (sending.length >= options.concurrency) await awaitFirst();
      const done = batch.body === "[]" ? Promise.resolve() : sender.send(batch);
      // A failure is thrown where the batch is awaited; until then it must not count as unhandled.
      done.catch(() => undefined);
      sending.push({ batch, done });
    }
    while (sending.length > 0) await awaitFirst();
  } catch (error) {
    await progress.record();
    throw error;
  }
}

/** How far everything is acknowledged, written down often enough to make the rest after a crash small. */
class Progress {
  readonly #options: ShipOptions;
  state: ResumeState;
  tally: Tally = emptyTally();
  #unrecordedBatches = 0;
  #recordedAt = performance.now();

  constructor(options: ShipOptions) {
    this.#options = options;
    this.state = options.resume;
  }

  async acknowledge({ end }: Batch): Promise<void> {
    this.state = { ...this.state, position: end.position };
    this.tally = end.tally;
    this.#unrecordedBatches++;
    this.#options.onProgress(end);
    if (
      this.#unrecordedBatches >= RECORD_EVERY_BATCHES ||
      performance.now() - this.#recordedAt >= RECORD_EVERY_MS
    )
      await this.record();
  }

  async recordInputEnd(offset: number): Promise<void> {
    this.state = { ...this.state, inputEnd: offset };
    await this.record();
  }

  async record(): Promise<void> {
    this.#unrecordedBatches = 0;
    this.#recordedAt = performance.now();
    await this.#options.record?.(this.state);
  }
}
