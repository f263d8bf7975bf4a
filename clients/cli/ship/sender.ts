import { gzipSync } from "node:zlib";
import { backoffMs } from "../../api/backoff.ts";
import type { ApiClient } from "../../api/client.ts";
import { ApiError, UnreachableError } from "../../api/errors.ts";
import { CliError } from "../cli-error.ts";
import { wordFailure } from "../failures.ts";
import { DRAIN_MS, FIRST_CONTACT_MAX_MS, STALL_NOTICE_MS } from "../limits.ts";
import type { Batch } from "./batches.ts";

interface SenderOptions {
  api: ApiClient;
  /** Packs the bodies: worth it over a network, not on one machine. */
  gzip: boolean;
  /** Begins the key of every request. */
  keyPrefix: string;
  giveUpMs: number;
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

/**
 * Sends batches, each until it is acknowledged. Every request carries a key made of the place of its batch, so one
 * whose answer was lost is recognised when it comes again.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #drained = new AbortController();
  retries = 0;
  #reached = false;
  #toldAt: number;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#toldAt = options.now();
    const drain = (): unknown => setTimeout(() => this.#drained.abort(), DRAIN_MS).unref();
    options.interrupted.addEventListener("abort", drain, { once: true });
  }

  /** Resolves when the server has made the batch durable; throws when it refuses it or stays away for too long. */
  async send(batch: Batch): Promise<void> {
    const { giveUpMs, resumable, interrupted, now, random, sleep } = this.#options;
    const startedAt = now();
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(batch);
      if (outcome === "acknowledged") {
        this.#reached = true;
        this.#toldAt = now();
        return;
      }
      const patienceMs = this.#reached ? giveUpMs : Math.min(giveUpMs, FIRST_CONTACT_MAX_MS);
      const waitMs = Math.max(backoffMs(attempt, random()), outcome.askedWaitMs);
      if (now() - startedAt + waitMs > patienceMs) {
        const hint = resumable ? "; run the same command again to go on" : "";
        const seconds = Math.round((now() - startedAt) / 1000);
        throw new CliError(`${outcome.message} (gave up after ${seconds} s${hint})`);
      }
      this.#tell(outcome.message);
      this.retries++;
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

  async #attempt(batch: Batch): Promise<"acknowledged" | { message: string; askedWaitMs: number }> {
    try {
      await this.#options.api.send("POST /api/v1/logs/ingest", {
        ...this.#requestOf(batch),
        signal: this.#drained.signal,
        expect: 202,
      });
      return "acknowledged";
    } catch (error) {
      const isAnswer = error instanceof ApiError;
      this.#reached ||= isAnswer;
      if ((isAnswer || error instanceof UnreachableError) && error.retryable)
        return { message: wordFailure(error), askedWaitMs: isAnswer ? error.waitMs : 0 };
      throw error;
    }
  }

  #requestOf({ body, start, end }: Batch): {
    headers: Record<string, string>;
    body: string | Uint8Array<ArrayBuffer>;
  } {
    const { gzip, keyPrefix } = this.#options;
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "idempotency-key": `${keyPrefix}:${start.offset}-${end.position.offset}`,
    };
    if (!gzip) return { headers, body };
    headers["content-encoding"] = "gzip";
    return { headers, body: new Uint8Array(gzipSync(body, { level: 1 })) };
  }
}
