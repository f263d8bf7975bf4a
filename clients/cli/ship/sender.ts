import { gzipSync } from "node:zlib";
import { backoffMs } from "../../api/backoff.ts";
import type { ApiClient } from "../../api/client.ts";
import { ApiError, UnreachableError } from "../../api/errors.ts";
import { CliError } from "../cli-error.ts";
import { wordFailure } from "../failures.ts";
import { DRAIN_MS, STALL_NOTICE_MS } from "../limits.ts";
import type { Destination, Receipt } from "./destination.ts";
import { type TimeSpan, widest } from "./findings.ts";
import { Gate } from "./gate.ts";

interface SenderOptions {
  api: ApiClient;
  destination: Destination;
  /** Requests on their way at a time, of all files together. */
  concurrency: number;
  /** Packs the bodies: worth it over a network, not on one machine. */
  gzip: boolean;
  giveUpMs: number;
  /** The same until the server has answered once: a wrong address is to be noticed. */
  firstContactMs: number;
  /** Whether the same command can go on where this one ends. */
  resumable: boolean;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Ends trying again, with its reason; requests on their way have DRAIN_MS from then on. */
  interrupted: AbortSignal;
  /** Told now and then why nothing moves. */
  onStall: (message: string) => void;
  random: () => number;
  /** Ends early when interrupted. */
  sleep: (ms: number) => Promise<void>;
}

/** What the server has answered so far. */
export interface SentTotals {
  stored: number;
  quarantined: number;
  rejected: number;
  /** Why the first record that was not mapped was not. */
  problem: string | null;
  retries: number;
  /** Between which times of the server's clock it received what it has acknowledged. */
  received: TimeSpan | null;
}

/** A date in a header has whole seconds, and a server may use one for longer than the second that it is of. */
const HEADER_DATE_MS = 3000;

/** Sends requests, each until it is acknowledged, under a key by which one whose answer was lost is recognised when it comes again. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #drained = new AbortController();
  readonly #gate: Gate;
  readonly totals: SentTotals = {
    stored: 0,
    quarantined: 0,
    rejected: 0,
    problem: null,
    retries: 0,
    received: null,
  };
  #reached = false;
  #toldAt: number;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#gate = new Gate(options.concurrency);
    this.#toldAt = options.now();
    const drain = (): unknown => setTimeout(() => this.#drained.abort(), DRAIN_MS).unref();
    options.interrupted.addEventListener("abort", drain, { once: true });
  }

  /** Resolves when the server has made the entries durable; throws when it refuses them or stays away for too long. */
  async send(key: string, entries: readonly string[]): Promise<void> {
    await this.#gate.enter();
    try {
      await this.#sendUntilAcknowledged(key, this.#options.destination.bodyOf(entries));
    } finally {
      this.#gate.leave();
    }
  }

  async #sendUntilAcknowledged(key: string, body: string): Promise<void> {
    const { giveUpMs, firstContactMs, resumable, interrupted, now, random, sleep } = this.#options;
    const startedAt = now();
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(key, body, startedAt);
      if (outcome === "acknowledged") return;
      const patienceMs = this.#reached ? giveUpMs : firstContactMs;
      const waitMs = Math.max(backoffMs(attempt, random()), outcome.askedWaitMs);
      if (now() - startedAt + waitMs > patienceMs) {
        const hint = resumable ? "; run the same command again to go on" : "";
        const seconds = Math.round((now() - startedAt) / 1000);
        throw new CliError(`${outcome.message} (gave up after ${seconds} s${hint})`);
      }
      this.#tell(outcome.message);
      this.totals.retries++;
      await sleep(waitMs);
      interrupted.throwIfAborted();
    }
  }

  #tell(message: string): void {
    const { now, onStall } = this.#options;
    if (now() - this.#toldAt < STALL_NOTICE_MS) return;
    this.#toldAt = now();
    onStall(message);
  }

  async #attempt(
    key: string,
    body: string,
    startedAt: number,
  ): Promise<"acknowledged" | { message: string; askedWaitMs: number }> {
    const { api, destination } = this.#options;
    try {
      const request = { ...this.#requestOf(key, body), signal: this.#drained.signal };
      const { receipt, headers } = await destination.send(api, request);
      this.#acknowledge(receipt, headers, startedAt);
      return "acknowledged";
    } catch (error) {
      const isAnswer = error instanceof ApiError;
      this.#reached ||= isAnswer;
      if ((isAnswer || error instanceof UnreachableError) && error.retryable)
        return { message: wordFailure(error), askedWaitMs: isAnswer ? error.waitMs : 0 };
      throw error;
    }
  }

  #acknowledge(
    { stored, quarantined, rejected, problem }: Receipt,
    headers: Headers,
    startedAt: number,
  ): void {
    const now = this.#options.now();
    this.#reached = true;
    this.#toldAt = now;
    const { totals } = this;
    totals.stored += stored;
    totals.quarantined += quarantined;
    totals.rejected += rejected;
    totals.problem ??= problem;
    const date = Date.parse(headers.get("date") ?? "");
    const answeredMs = Number.isNaN(date) ? now : date;
    totals.received = widest(totals.received, {
      fromMs: answeredMs - (now - startedAt) - HEADER_DATE_MS,
      toMs: answeredMs + HEADER_DATE_MS,
    });
  }

  #requestOf(
    key: string,
    body: string,
  ): { headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> } {
    const { gzip, destination } = this.#options;
    const headers: Record<string, string> = {
      "content-type": destination.contentType,
      "idempotency-key": key,
    };
    if (!gzip) return { headers, body };
    headers["content-encoding"] = "gzip";
    return { headers, body: new Uint8Array(gzipSync(body, { level: 1 })) };
  }
}
