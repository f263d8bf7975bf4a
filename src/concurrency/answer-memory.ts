import { ApiError } from "../errors.ts";

/** Bytes, of one caller, of one organisation, and in all. */
interface MemoryBounds {
  readonly ofCaller: number;
  readonly ofOrganization: number;
  readonly ofAll: number;
}

/** Whose bytes they are. A caller is a person, or the address of a stranger, who belongs to no organisation. */
export interface MemoryOwner {
  readonly caller: string;
  readonly organizationId: number | null;
}

/** Says whose bound was reached. */
type FullShare = "caller" | "organization" | "all";

/** What one owner holds, and the answers it holds it with. */
interface Tally {
  bytes: number;
  shares: number;
}

/** What is held for readers: bytes that are counted by whose they are, and in all. */
export class AnswerMemory {
  readonly #bounds: MemoryBounds;
  readonly #tallies = new Map<string, Tally>();
  #bytes = 0;

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds;
  }

  /** Held at this moment. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Callers and organisations that have a share. */
  get owners(): number {
    return this.#tallies.size;
  }

  /** A share for one answer, of nothing yet; whoever opens it has to close it. */
  open({ caller, organizationId }: MemoryOwner): MemoryShare {
    const { ofCaller, ofOrganization, ofAll } = this.#bounds;
    const own = this.#enter(`caller ${caller}`);
    const shared = organizationId === null ? null : this.#enter(`organization ${organizationId}`);
    const add = (bytes: number): void => {
      this.#bytes += bytes;
      own.bytes += bytes;
      if (shared !== null) shared.bytes += bytes;
    };
    return new MemoryShare({
      take: (bytes) => {
        if (own.bytes + bytes > ofCaller) return "caller";
        if (shared !== null && shared.bytes + bytes > ofOrganization) return "organization";
        if (this.#bytes + bytes > ofAll) return "all";
        add(bytes);
        return null;
      },
      giveBack: (bytes) => add(-bytes),
      close: () => {
        this.#leave(`caller ${caller}`, own);
        if (shared !== null) this.#leave(`organization ${organizationId}`, shared);
      },
    });
  }

  #enter(key: string): Tally {
    const tally = this.#tallies.get(key) ?? { bytes: 0, shares: 0 };
    tally.shares++;
    this.#tallies.set(key, tally);
    return tally;
  }

  #leave(key: string, tally: Tally): void {
    tally.shares--;
    if (tally.shares === 0) this.#tallies.delete(key);
  }
}

interface Counter {
  take(bytes: number): FullShare | null;
  giveBack(bytes: number): void;
  close(): void;
}

/** What one answer holds. */
export class MemoryShare {
  readonly #counter: Counter;
  #usedBytes = 0;
  #reservedBytes = 0;
  #heldBytes = 0;
  #isClosed = false;
  #isHandedOver = false;

  constructor(counter: Counter) {
    this.#counter = counter;
  }

  /** Counted for it at this moment. */
  get bytes(): number {
    return this.#heldBytes;
  }

  /** Whether the body of the answer closes it, which is read when the request is answered already. */
  get isHandedOver(): boolean {
    return this.#isHandedOver;
  }

  handOver(): void {
    this.#isHandedOver = true;
  }

  /** False, and nothing is taken, when there is no room. */
  tryTake(bytes: number): boolean {
    return this.#take(bytes) === null;
  }

  /** Throws RATE_LIMITED when the caller or the organisation holds too much already, UNAVAILABLE when all do. */
  take(bytes: number): void {
    const full = this.#take(bytes);
    if (full !== null) throw refusal(full);
  }

  /** Counts so much until the end, so that there is room whenever no more than that is taken. Throws as `take` does. */
  reserve(bytes: number): void {
    if (this.#isClosed) return;
    const more = Math.max(0, bytes - this.#heldBytes);
    const full = this.#counter.take(more);
    if (full !== null) throw refusal(full);
    this.#reservedBytes = bytes;
    this.#heldBytes += more;
  }

  giveBack(bytes: number): void {
    this.#usedBytes = Math.max(0, this.#usedBytes - bytes);
    const spare = this.#heldBytes - Math.max(this.#usedBytes, this.#reservedBytes);
    this.#heldBytes -= spare;
    this.#counter.giveBack(spare);
  }

  /** Gives everything back; what is taken afterwards, by work that ends late, is not counted any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reservedBytes = 0;
    this.giveBack(this.#usedBytes);
    this.#counter.close();
  }

  #take(bytes: number): FullShare | null {
    if (this.#isClosed) return null;
    const more = Math.max(0, this.#usedBytes + bytes - this.#heldBytes);
    const full = this.#counter.take(more);
    if (full !== null) return full;
    this.#usedBytes += bytes;
    this.#heldBytes += more;
    return null;
  }
}

function refusal(full: FullShare): ApiError {
  return full === "all"
    ? new ApiError("UNAVAILABLE", "Too many answers wait for their readers.", { retryAfterSeconds: 1 })
    : new ApiError("RATE_LIMITED", OVER_SHARE[full], { retryAfterSeconds: 1 });
}

const OVER_SHARE = {
  caller: "Too much of your answers waits to be read; read them first.",
  organization: "Too much of your organisation's answers waits to be read.",
};
