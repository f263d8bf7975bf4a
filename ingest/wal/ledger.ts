import { join } from "node:path";
import { writeFileAtomically } from "./atomic-file.ts";
import { assertInvariant, WalWriteError } from "./errors.ts";
import { isMissingFile, readFully, type WalFile, type WalIo, writeFully } from "./io.ts";
import { decodeSlot, encodeSlot, type LedgerState, SLOT_BYTES } from "./ledger-slot.ts";
import { Serial } from "./serial.ts";

const FILE_NAME = "ledger";

/** Slots lie a disk block apart, so that a torn write of one cannot touch the other. */
const SLOT_DISTANCE_BYTES = 4096;
const SLOTS = 2;

/**
 * What was flushed, in a small file that exists at full length from the start: updates overwrite it in place and need
 * no space. The two slots are written in turn; the one that is not written holds the last durable state.
 */
export class Ledger {
  readonly #file: WalFile;
  readonly #serial = new Serial();
  readonly #onSyncFailure: (cause: unknown) => Error;
  #state: LedgerState;

  private constructor(file: WalFile, state: LedgerState, onSyncFailure: (cause: unknown) => Error) {
    this.#file = file;
    this.#state = state;
    this.#onSyncFailure = onSyncFailure;
  }

  /** The newest readable state; undefined when there is no ledger or neither slot can be read. */
  static async load(io: WalIo, directory: string): Promise<LedgerState | undefined> {
    let file: WalFile;
    try {
      file = await io.open(join(directory, FILE_NAME), "read");
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw error;
    }
    try {
      let newest: LedgerState | undefined;
      for (let slot = 0; slot < SLOTS; slot++) {
        const state = decodeSlot(await readFully(file, slot * SLOT_DISTANCE_BYTES, SLOT_BYTES));
        if (state !== undefined && state.sequence > (newest?.sequence ?? -1)) newest = state;
      }
      return newest;
    } finally {
      await file.close();
    }
  }

  /** Whether there is a ledger, readable or not. */
  static async exists(io: WalIo, directory: string): Promise<boolean> {
    return (await io.list(directory)).some(({ name }) => name === FILE_NAME);
  }

  /** Puts a whole new ledger in place, atomically. */
  static async create(io: WalIo, directory: string, state: LedgerState): Promise<void> {
    const bytes = new Uint8Array(SLOTS * SLOT_DISTANCE_BYTES);
    bytes.set(encodeSlot(state), slotOffset(state.sequence));
    await writeFileAtomically(io, directory, FILE_NAME, bytes);
  }

  /** Opens the ledger whose newest state is `state`. `onSyncFailure` makes the log fail and returns its error. */
  static async open(
    io: WalIo,
    directory: string,
    state: LedgerState,
    onSyncFailure: (cause: unknown) => Error,
  ): Promise<Ledger> {
    return new Ledger(await io.open(join(directory, FILE_NAME), "update"), state, onSyncFailure);
  }

  /** Everything below is in the store. */
  get flushedThrough(): number {
    return this.#state.flushedThrough;
  }

  /** An insert of `flushedThrough`..`intentEnd` may have been tried. */
  get intentEnd(): number {
    return this.#state.intentEnd;
  }

  /** Resolves once the new state is durable. Rejects with WalWriteError, the old state still in force. */
  update(
    change: (now: LedgerState) => Partial<Pick<LedgerState, "flushedThrough" | "intentEnd">>,
  ): Promise<void> {
    return this.#serial.run(async () => {
      const next: LedgerState = {
        ...this.#state,
        ...change(this.#state),
        sequence: this.#state.sequence + 1,
      };
      assertInvariant(next.flushedThrough >= this.#state.flushedThrough, 3, "flushedThrough went back");
      assertInvariant(next.intentEnd >= next.flushedThrough, 3, "intentEnd is below flushedThrough");
      try {
        await writeFully(this.#file, encodeSlot(next), slotOffset(next.sequence));
      } catch (error) {
        throw new WalWriteError(error);
      }
      try {
        await this.#file.datasync();
      } catch (error) {
        throw this.#onSyncFailure(error);
      }
      this.#state = next;
    });
  }

  close(): Promise<void> {
    return this.#serial.run(() => this.#file.close());
  }
}

function slotOffset(sequence: number): number {
  return (sequence % SLOTS) * SLOT_DISTANCE_BYTES;
}
