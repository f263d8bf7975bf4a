import type { Interest, Letter } from "./fan-out-messages.ts";
import type { TailStream } from "./tail-stream.ts";

/** What the service asks of it for a stream. */
export interface SharedStream {
  readonly stream: TailStream;
  readonly organizationId: number;
  readonly key: string;
  /** Reads back what another server took in, up to the mark, and then calls `onFilled`. */
  readonly fill: (source: number, mark: bigint, onFilled: () => void) => void;
}

/** A stream and the servers whose entries it gets without a break. */
interface Joined {
  readonly shared: SharedStream;
  readonly sources: Set<number>;
}

/** The streams of this server as those that other servers send to. */
export class RemoteStreams {
  readonly #onHole: () => void;
  readonly #streams = new Map<number, Joined>();
  /** The number of the last letter of each server. */
  readonly #numbers = new Map<string, number>();
  #next = 1;
  #epoch = 1;

  constructor(options: { onHole: () => void }) {
    this.#onHole = options.onHole;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get interests(): Interest[] {
    return [...this.#streams].map(([stream, { shared }]) => ({
      stream,
      organizationId: shared.organizationId,
      key: shared.key,
    }));
  }

  sourcesOf(stream: TailStream): ReadonlySet<number> {
    for (const { shared, sources } of this.#streams.values()) if (shared.stream === stream) return sources;
    return new Set();
  }

  add(shared: SharedStream, sources: readonly number[]): () => void {
    const number = this.#next++;
    this.#streams.set(number, { shared, sources: new Set() });
    for (const source of sources) shared.stream.hold(source);
    return () => {
      this.#streams.delete(number);
    };
  }

  /** Entries of this server are kept until it has said what comes before them. */
  expect(source: number): void {
    for (const { shared, sources } of this.#streams.values()) {
      sources.delete(source);
      shared.stream.hold(source);
    }
  }

  /** The server is gone; what it leaves behind comes with the next one that joins. */
  forget(source: number): void {
    for (const { shared, sources } of this.#streams.values()) {
      sources.delete(source);
      shared.stream.release(source);
    }
  }

  beginAnew(sources: readonly number[]): void {
    this.#epoch++;
    this.#numbers.clear();
    for (const source of sources) this.expect(source);
  }

  open(letter: Letter): void {
    if (letter.epoch !== this.#epoch) return;
    if (letter.number !== (this.#numbers.get(letter.from) ?? 0) + 1) {
      this.#onHole();
      return;
    }
    this.#numbers.set(letter.from, letter.number);
    if (letter.type === "stored") this.#fill(letter.stream, letter.source, BigInt(letter.mark));
    else this.#deliver(letter);
  }

  #fill(number: number, source: number, mark: bigint): void {
    const joined = this.#streams.get(number);
    if (joined === undefined) return;
    const epoch = this.#epoch;
    joined.shared.fill(source, mark, () => {
      if (epoch !== this.#epoch) return;
      joined.sources.add(source);
      joined.shared.stream.release(source);
    });
  }

  #deliver({
    organizationId,
    key,
    entries,
    lost,
    isUndecided,
    source,
  }: Extract<Letter, { type: "entries" }>): void {
    const received = entries.map(([id, json]) => ({ id: BigInt(id), json }));
    const last = received.at(-1);
    for (const { shared, sources } of [...this.#streams.values()]) {
      if (shared.organizationId !== organizationId || shared.key !== key) continue;
      // From a server that was not heard of before it sent.
      if (!sources.has(source)) shared.stream.hold(source);
      if (last !== undefined)
        shared.stream.deliver({
          count: received.length,
          lastId: last.id,
          first: (count) => received.slice(0, count),
        });
      if (lost > 0) shared.stream.lose(lost);
      if (isUndecided) shared.stream.askStore();
    }
  }
}
