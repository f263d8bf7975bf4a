import type { Logger } from "../../../log.ts";
import { CREDENTIAL_CHECK_MS, CREDENTIAL_TRUST_MS } from "./limits.ts";
import type { TailCredential } from "./session-store.ts";
import { credentialKey } from "./tail-sessions.ts";
import type { TailStream } from "./tail-stream.ts";

/** A stream that goes on, whose it is, and what lets it be read. */
export interface OpenStream {
  readonly stream: TailStream;
  readonly organizationId: number;
  readonly userId: number;
  readonly credential: TailCredential;
}

interface OpenStreamsOptions {
  /** The keys of the credentials that are still valid. Rejects when that cannot be found out. */
  readonly validCredentials: (credentials: readonly TailCredential[]) => Promise<ReadonlySet<string>>;
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

  /** How many there are like this one. */
  countOf(isLike: (open: OpenStream) => boolean): number {
    let count = 0;
    for (const open of this.#streams.keys()) if (isLike(open)) count++;
    return count;
  }

  /** The sessions of tails that are open, each once. */
  get sessionIds(): number[] {
    return this.#credentials.flatMap(({ kind, id }) => (kind === "tail" ? [id] : []));
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

  /** Each once. */
  get #credentials(): TailCredential[] {
    const credentials = new Map<string, TailCredential>();
    for (const { credential } of this.#streams.keys()) credentials.set(credentialKey(credential), credential);
    return [...credentials.values()];
  }

  async #check(): Promise<void> {
    if (this.#isChecking || this.#streams.size === 0) return;
    this.#isChecking = true;
    const checkedAt = this.#options.monotonicMs();
    const streams = [...this.#streams.keys()];
    const valid = await this.#validCredentials();
    for (const open of streams)
      this.#judge(open, valid?.has(credentialKey(open.credential)) ?? null, checkedAt);
    this.#isChecking = false;
  }

  /** Null when it cannot be found out. */
  async #validCredentials(): Promise<ReadonlySet<string> | null> {
    try {
      return await this.#options.validCredentials(this.#credentials);
    } catch (error) {
      this.#options.log.warn({ err: error }, "the credentials of live tails could not be checked");
      return null;
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
