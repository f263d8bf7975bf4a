import { RelayedFrames } from "../../../../../ingest/index.ts";
import type { Logger } from "../../../../log.ts";
import {
  BATCH_MAX_BYTES,
  BATCH_MAX_MESSAGES,
  BATCH_MAX_WAIT_MS,
  RETRY_MAX_MS,
  RETRY_MIN_MS,
  UNEXPECTED_FAILURES_MAX,
} from "./limits.ts";
import type { Delivered, MessageDelivery } from "./message-delivery.ts";
import type { MessageMetrics, MessageTransport } from "./message-metrics.ts";

interface MessageBatchesDependencies {
  /** What is received, for the log. */
  readonly protocol: string;
  readonly delivery: Pick<MessageDelivery, "deliver">;
  readonly metrics: MessageMetrics;
  readonly log: Logger;
  /** Called when there is room again after `isFull` was true. */
  readonly onRoom: () => void;
  /** Called when messages were refused for good, for everybody who sends them. */
  readonly onRefused: () => void;
}

/** Messages that are stored together. */
interface Batch {
  readonly body: Uint8Array;
  readonly counts: Readonly<Record<MessageTransport, number>>;
}

/**
 * Gathers messages of all senders and stores them in batches, in their order: one batch is being stored, again and again
 * until it is, while the next one is gathered. More than these two are never held.
 */
export class MessageBatches {
  readonly #deps: MessageBatchesDependencies;
  readonly #frames = new RelayedFrames();
  #counts: Record<MessageTransport, number> = { tcp: 0, udp: 0 };
  #timer: ReturnType<typeof setTimeout> | null = null;
  #underWay: Promise<void> | null = null;
  #givesUp = false;
  #wakeRetry: () => void = () => undefined;

  constructor(deps: MessageBatchesDependencies) {
    this.#deps = deps;
  }

  /** Whether nothing should be added until `onRoom`; what is added nevertheless is kept. */
  get isFull(): boolean {
    return this.#frames.length >= BATCH_MAX_BYTES || this.#frames.count >= BATCH_MAX_MESSAGES;
  }

  add(transport: MessageTransport, peer: string, message: Uint8Array): void {
    this.#frames.add(peer, message);
    this.#counts[transport]++;
    if (this.#underWay !== null) return;
    if (this.isFull) this.#store();
    else this.#timer ??= setTimeout(() => this.#store(), BATCH_MAX_WAIT_MS);
  }

  /** Stores what is there; what is not stored within `withinMs` is given up and counted. */
  async close(withinMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#givesUp = true;
      this.#wakeRetry();
    }, withinMs);
    while (this.#underWay !== null || this.#frames.count > 0) {
      if (this.#underWay === null) this.#store();
      await this.#underWay;
    }
    clearTimeout(timer);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #store(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const wasFull = this.isFull;
    const batch = { counts: this.#counts, body: this.#frames.take() };
    this.#counts = { tcp: 0, udp: 0 };
    this.#underWay = this.#storeUntilDone(batch).finally(() => {
      this.#underWay = null;
      // Whatever came in meanwhile has waited long enough.
      if (this.#frames.count > 0) this.#store();
    });
    if (wasFull) this.#deps.onRoom();
  }

  async #storeUntilDone(batch: Batch): Promise<void> {
    const { delivery, log } = this.#deps;
    const name = crypto.randomUUID();
    let unexpected = 0;
    for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      const delivered = await delivery.deliver(batch.body, name);
      if (delivered.outcome === "stored") {
        this.#count(batch, "stored");
        return;
      }
      if (delivered.outcome === "refused") {
        this.#count(batch, "refused");
        this.#deps.onRefused();
        return;
      }
      if (delivered.isUnexpected) unexpected++;
      if (waitMs === RETRY_MIN_MS) logWait(log, this.#deps.protocol, delivered);
      if (this.#givesUp || unexpected === UNEXPECTED_FAILURES_MAX) {
        this.#count(batch, "dropped");
        log.error(
          { err: delivered.error, ...batch.counts },
          `${this.#deps.protocol} messages are lost: they could not be stored`,
        );
        return;
      }
      await this.#wait(Math.min(Math.max(waitMs, delivered.afterMs), RETRY_MAX_MS));
    }
  }

  #count({ counts }: Batch, outcome: "stored" | "refused" | "dropped"): void {
    for (const transport of ["tcp", "udp"] as const)
      if (counts[transport] > 0) this.#deps.metrics.messages.inc({ transport, outcome }, counts[transport]);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeRetry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function logWait(
  log: Logger,
  protocol: string,
  { error, isUnexpected }: Extract<Delivered, { outcome: "unavailable" }>,
): void {
  const level = isUnexpected ? "error" : "warn";
  log[level]({ err: error }, `${protocol} messages wait: they cannot be stored now`);
}
