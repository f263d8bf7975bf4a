import type { Logger } from "../../../log.ts";
import { CREDENTIAL_CHECK_MS, CREDENTIAL_TRUST_MS } from "./limits.ts";
import type { TailStream } from "./tail-stream.ts";

/** A stream that goes on, and how it is found out whether it may. */
export interface OpenStream {
  readonly stream: TailStream;
  /** Of its session; null for a stream that its own credential opened. */
  readonly sessionId: number | null;
  /** Whether the credential of a stream without a session is still valid. Rejects when that cannot be found out. */
  readonly isAllowed: () => Promise<boolean>;
}

export interface OpenStreamsOptions {
  /** Those of the sessions that are still valid. Rejects when that cannot be found out. */
  readonly validSessions: (ids: readonly number[]) => Promise<readonly number[]>;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  readonly checkIntervalMs?: number;
}

/** The streams of one server. Ends those whose credential is no longer valid. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  /** With the time of the last answer about the credential. */
  readonly #streams = new Map<OpenStream, number>();
  readonly #timer: Timer;
  #isChecking = false;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#check(), options.checkIntervalMs ?? CREDENTIAL_CHECK_MS);
    this.#timer.unref();
  }

  get size(): number {
    return this.#streams.size;
  }

  countOf(sessionId: number): number {
    return [...this.#streams.keys()].filter((open) => open.sessionId === sessionId).length;
  }

  /** The sessions that are open, each once. */
  get sessionIds(): number[] {
    const ids = [...this.#streams.keys()].flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId]));
    return [...new Set(ids)];
  }

  add(open: OpenStream): void {
    this.#streams.set(open, this.#options.monotonicMs());
  }

  delete(open: OpenStream): void {
    this.#streams.delete(open);
  }

  /** Says something to all of them. */
  say(event: string, data: object): void {
    for (const { stream } of this.#streams.keys()) stream.say(event, data);
  }

  /** Ends all of them, with the same last word. */
  close(event: string, data: object): void {
    clearInterval(this.#timer);
    for (const { stream } of [...this.#streams.keys()]) stream.end(event, data);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const checkedAt = this.#options.monotonicMs();
    const streams = [...this.#streams.keys()];
    const sessions = this.#validSessions();
    await Promise.all(
      streams.map(async (open) => {
        const { sessionId, isAllowed } = open;
        const answer = sessionId === null ? isAllowed() : sessions.then((valid) => valid.has(sessionId));
        this.#judge(open, await answer.catch(() => null), checkedAt);
      }),
    );
    this.#isChecking = false;
  }

  async #validSessions(): Promise<ReadonlySet<number>> {
    const ids = this.sessionIds;
    if (ids.length === 0) return new Set();
    try {
      return new Set(await this.#options.validSessions(ids));
    } catch (error) {
      this.#options.log.warn({ err: error }, "the credentials of live tails could not be checked");
      throw error;
    }
  }

  #judge(open: OpenStream, isValid: boolean | null, checkedAt: number): void {
    const trustedAt = this.#streams.get(open);
    if (trustedAt === undefined) return;
    if (isValid === true) this.#streams.set(open, checkedAt);
    else if (isValid === false)
      open.stream.end("error", {
        code: "UNAUTHENTICATED",
        message: "The credential of this tail has ended.",
      });
    else if (checkedAt - trustedAt > CREDENTIAL_TRUST_MS)
      open.stream.end("error", { code: "UNAVAILABLE", message: "The credential cannot be checked now." });
  }
}
