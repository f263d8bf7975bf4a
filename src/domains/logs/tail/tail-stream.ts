import type { MemoryShare } from "../../../concurrency/memory-share.ts";
import { type EventSource, SSE_COMMENT, sseBlock, sseRetry } from "../../../http/sse.ts";
import type { DeliveryRate } from "./delivery-rate.ts";
import { COMMENT_INTERVAL_MS, RETRY_MS, STALLED_READER_MS, WRITE_MAX_CHARS } from "./limits.ts";
import { sourceOf, type TailPosition } from "./position.ts";
import { type DroppedEntries, type QueueItem, ReaderQueue } from "./reader-queue.ts";
import type { MatchedEntries, TailEntry } from "./tail-filter.ts";
import type { TailReader } from "./tail-hub.ts";
import type { TailMetrics } from "./tail-metrics.ts";
import type { WriteRounds } from "./write-rounds.ts";

/** What a reader that comes back has missed. */
export interface TailGap {
  /** The next piece, null at the end. Rejects when the store does not answer: then the reader has to come again. */
  next(): Promise<readonly QueueItem[] | null>;
  /** At the end everything up to these ids is behind the reader. */
  readonly through: Iterable<bigint>;
}

interface PendingGap {
  readonly gap: TailGap;
  readonly onFilled: () => void;
}

interface TailStreamOptions {
  readonly position: TailPosition;
  /** What waits for the reader counts here. */
  readonly memory: MemoryShare;
  readonly rate: DeliveryRate;
  readonly rounds: WriteRounds;
  readonly metrics: TailMetrics;
  /** Moves the position to the present; called when everything up to it was sent. */
  readonly catchUp: (position: TailPosition) => void;
  /** Called when only the store can tell what the filter lets through. */
  readonly onUndecided: () => void;
  /** Called once, when the stream has ended for whatever reason. */
  readonly onEnd: () => void;
  readonly commentIntervalMs?: number;
  readonly monotonicMs: () => number;
}

/**
 * One reader of a tail: first what it missed, then what is delivered, in order, each entry once. It is pulled: what the
 * reader's connection does not take stays in the queue, and what finds no room there is dropped and counted.
 */
export class TailStream implements EventSource, TailReader {
  readonly #options: TailStreamOptions;
  readonly #position: TailPosition;
  readonly #queue: ReaderQueue;
  readonly #commentIntervalMs: number;
  readonly #timer: Timer;
  /** What is to be read back before the queue is read on, in this order. */
  readonly #gaps: PendingGap[] = [];
  #gapItems: QueueItem[] = [];
  /** What came from servers whose earlier entries are still to be read back. */
  readonly #held = new Map<number, ReaderQueue>();
  #gapRequest: Promise<void> | null = null;
  #wake: (() => void) | null = null;
  #onPieceFull: (() => void) | null = null;
  #commentDue = false;
  /** Entries of the piece that is put together. */
  #delivered = 0;
  #head: string;
  #lastReadMs: number;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  /** What is sent last; null while the stream goes on. */
  #farewell: string | null = null;
  #ended = false;

  constructor(options: TailStreamOptions) {
    this.#options = options;
    this.#position = options.position;
    this.#queue = new ReaderQueue(options.memory);
    this.#commentIntervalMs = options.commentIntervalMs ?? COMMENT_INTERVAL_MS;
    this.#lastReadMs = options.monotonicMs();
    this.#head = sseRetry(RETRY_MS) + sseBlock({ id: options.position.toString() });
    this.#timer = setInterval(() => this.#tick(), this.#commentIntervalMs);
    options.metrics.streams.inc();
  }

  /** Reads this back before anything else that waits; then `onFilled` is called. */
  fill(gap: TailGap, onFilled: () => void): void {
    if (this.#ended) return;
    this.#gaps.push({ gap, onFilled });
    this.#notify();
  }

  /** Keeps what comes from a server until `release`. */
  hold(source: number): void {
    if (!this.#ended && !this.#held.has(source))
      this.#held.set(source, new ReaderQueue(this.#options.memory));
  }

  /** Lets what was kept follow what waits. */
  release(source: number): void {
    const held = this.#held.get(source);
    if (held === undefined) return;
    this.#held.delete(source);
    this.#queue.absorb(held);
    this.#notify();
  }

  deliver({ count, lastId, first }: MatchedEntries): void {
    if (this.#ended) return;
    const queue = this.#held.get(sourceOf(lastId)) ?? this.#queue;
    const taken = this.#options.rate.take(Math.min(count, queue.room));
    let dropped = count - taken;
    for (const entry of first(taken)) if (!queue.push(entry)) dropped++;
    if (taken < count) queue.drop(count - taken, lastId);
    if (dropped > 0) this.#options.metrics.dropped.inc(dropped);
    this.#notify();
  }

  lose(count: number): void {
    if (this.#ended) return;
    this.#queue.pushLost(count);
    this.#options.metrics.dropped.inc(count);
    this.#notify();
  }

  askStore(): void {
    if (!this.#ended) this.#options.onUndecided();
  }

  /** Drops what waits: it will be read back, because the position does not contain it. */
  forget(): void {
    this.#queue.clear();
    for (const held of this.#held.values()) held.clear();
    this.#held.clear();
  }

  /** Says something beside the entries, in its place among them. */
  say(event: string, data: object): void {
    if (this.#ended) return;
    this.#queue.pushBlock(sseBlock({ event, data: JSON.stringify(data) }));
    this.#notify();
  }

  /** Ends the stream with a last word. What waits is not sent: the reader's position does not contain it. */
  end(event: string, data: object, retryMs = RETRY_MS): void {
    if (this.#ended) return;
    this.#farewell = sseRetry(retryMs) + sseBlock({ event, data: JSON.stringify(data) });
    this.#finish();
  }

  cancel(): void {
    this.#finish();
  }

  async read(): Promise<string | null> {
    await this.#gather();
    for (;;) {
      this.#lastReadMs = this.#options.monotonicMs();
      const text = this.#take();
      // Once for a piece: counting costs more than an entry does.
      this.#options.metrics.delivered.inc(this.#delivered);
      this.#delivered = 0;
      if (text !== "") {
        this.#lastWriteMs = this.#lastReadMs;
        return text;
      }
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Lets what comes right after the last piece make a piece of its own. */
  #gather(): Promise<void> {
    const { rounds, monotonicMs } = this.#options;
    const waitMs = this.#lastWriteMs + rounds.intervalMs - monotonicMs();
    if (waitMs <= 0 || this.#gaps.length > 0 || this.#isPieceFull) return Promise.resolve();
    return new Promise((resolve) => {
      const leave = rounds.join(resolve);
      this.#onPieceFull = () => {
        leave();
        resolve();
      };
    });
  }

  get #isPieceFull(): boolean {
    return this.#ended || this.#queue.chars >= WRITE_MAX_CHARS;
  }

  /** What can be sent now. */
  #take(): string {
    if (this.#farewell !== null) {
      const text = this.#farewell;
      this.#farewell = null;
      return text;
    }
    if (this.#ended) return "";
    let text = this.#head;
    this.#head = "";
    this.#askForGap();
    for (let item = this.#nextItem(); item !== undefined; item = this.#nextItem()) {
      text += this.#blockOf(item);
      if (text.length >= WRITE_MAX_CHARS) return text;
    }
    if (!this.#commentDue) return text;
    this.#commentDue = false;
    // Everything was sent, unless something is being read back or kept: then the position has to stay before it.
    if (this.#gaps.length === 0 && this.#held.size === 0) this.#options.catchUp(this.#position);
    return text + SSE_COMMENT + sseBlock({ id: this.#position.toString() });
  }

  #nextItem(): QueueItem | undefined {
    const missed = this.#gapItems.shift();
    if (missed !== undefined) return missed;
    return this.#gaps.length === 0 ? this.#queue.shift() : undefined;
  }

  #blockOf(item: QueueItem): string {
    switch (item.kind) {
      case "entry":
        return this.#entryBlock(item.entry);
      case "dropped":
        return this.#droppedBlock(item.dropped);
      case "block":
        return item.text;
    }
  }

  #entryBlock({ id, json }: TailEntry): string {
    // Sent already when it was both read from the store and delivered.
    if (!this.#position.isAhead(id)) return "";
    const position = this.#position.textAt(id);
    this.#position.pass(id);
    this.#delivered++;
    return sseBlock({ event: "log", id: position, data: json });
  }

  #droppedBlock({ count, isOfBreak = false, lastIds }: DroppedEntries): string {
    for (const id of lastIds.values()) this.#position.pass(id);
    const data = JSON.stringify({ count, reason: isOfBreak ? "break" : "speed" });
    return sseBlock({ event: "dropped", id: this.#position.toString(), data });
  }

  #askForGap(): void {
    const [pending] = this.#gaps;
    if (pending === undefined || this.#gapRequest !== null || this.#gapItems.length > 0) return;
    this.#gapRequest = pending.gap.next().then(
      (items) => {
        this.#gapRequest = null;
        if (this.#ended) return;
        if (items === null) this.#closeGap(pending);
        else this.#gapItems.push(...items);
        this.#notify();
      },
      () => {
        this.#gapRequest = null;
        this.end("error", { code: "UNAVAILABLE", message: "What came during the break cannot be read now." });
      },
    );
  }

  #closeGap({ gap, onFilled }: PendingGap): void {
    for (const id of gap.through) this.#position.pass(id);
    this.#gaps.shift();
    onFilled();
  }

  #tick(): void {
    const idleMs = this.#options.monotonicMs() - this.#lastReadMs;
    if (!this.#queue.isEmpty && this.#wake === null && idleMs > STALLED_READER_MS) {
      this.#finish();
      return;
    }
    this.#commentDue = true;
    this.#notify();
  }

  #notify(): void {
    if (this.#onPieceFull !== null && this.#isPieceFull) {
      this.#onPieceFull();
      this.#onPieceFull = null;
    }
    this.#wake?.();
    this.#wake = null;
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    this.forget();
    this.#gapItems = [];
    this.#gaps.length = 0;
    this.#options.metrics.streams.dec();
    this.#options.rate.close();
    this.#options.onEnd();
    this.#notify();
  }
}
