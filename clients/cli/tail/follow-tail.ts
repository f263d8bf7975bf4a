import { backoffMs } from "../../api/backoff.ts";
import type { CallInput } from "../../api/calls.ts";
import type { ApiClient } from "../../api/client.ts";
import { ApiError, refusalInStream, UnreachableError } from "../../api/errors.ts";
import { isRecord, type JsonRecord, parseJsonExactly, parseJsonOrUndefined } from "../../api/json.ts";
import type { OpenAnswer } from "../../api/open-answer.ts";
import { EventStreamParser, isEventStream, type ServerSentEvent } from "../../api/stream.ts";
import { CliError } from "../cli-error.ts";
import { foreignAnswer, wordFailure } from "../failures.ts";
import { FIRST_CONTACT_MAX_MS, TAIL_ASKED_WAIT_MAX_MS, TAIL_RECENT_IDS, TAIL_STABLE_MS } from "../limits.ts";
import { RecentIds } from "./recent-ids.ts";

interface TailOptions {
  readonly api: ApiClient;
  /** What the session is asked for. */
  readonly filter: CallInput<"POST /api/v1/logs/tail/session">["body"];
  /** Milliseconds without a byte after which a stream is broken. */
  readonly silenceMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
}

export type TailEvent =
  /** A stream is open; not the first one when `isResumed`. */
  | { kind: "open"; isResumed: boolean }
  | { kind: "entries"; entries: readonly JsonRecord[] }
  /** The server left out so many entries: of a break that was too long, or because they came too fast. */
  | { kind: "dropped"; count: number; isOfBreak: boolean }
  /** The server says something about a stream that goes on, such as a gap that it cannot fill. */
  | { kind: "notice"; message: string }
  /** There is no stream; the next attempt comes after `waitMs`. */
  | { kind: "broken"; reason: string; waitMs: number };

/** Why a stream ended that can be taken up again, and how long the server wants to be left alone. */
class Interruption extends Error {
  readonly askedWaitMs: number;

  constructor(reason: string, askedWaitMs = 0) {
    super(reason);
    this.name = "Interruption";
    this.askedWaitMs = askedWaitMs;
  }
}

/**
 * Follows a tail for ever: it opens a session, reads its stream, and after every break goes on behind the last entry. Ends by
 * throwing only: CliError when the server cannot be reached at first or is no obs server, ApiError when it refuses the filter
 * or the token.
 */
export async function* followTail(options: TailOptions): AsyncGenerator<TailEvent, never> {
  const tail = new Tail(options);
  const startedAt = options.monotonicMs();
  for (;;) {
    const { message: reason, askedWaitMs } = yield* tail.readStream();
    const waitMs = Math.max(tail.nextWaitMs(), Math.min(askedWaitMs, TAIL_ASKED_WAIT_MAX_MS));
    if (!tail.hasOpened && options.monotonicMs() - startedAt + waitMs > FIRST_CONTACT_MAX_MS)
      throw new CliError(reason);
    yield { kind: "broken", reason, waitMs };
    await options.sleep(waitMs);
  }
}

class Tail {
  readonly #options: TailOptions;
  readonly #shown = new RecentIds(TAIL_RECENT_IDS);
  #token: string | null = null;
  /** The session was made by this attempt and has shown nothing: what refuses it would refuse the next one too. */
  #isFresh = false;
  #lastEventId = "";
  #retryMs = 0;
  #attempt = 0;
  hasOpened = false;

  constructor(options: TailOptions) {
    this.#options = options;
  }

  nextWaitMs(): number {
    const random = this.#options.random();
    // All readers of a server are asked for the same wait; they should not come back at the same moment.
    const askedMs = Math.min(this.#retryMs, TAIL_ASKED_WAIT_MAX_MS) * (1 + random / 4);
    return Math.round(Math.max(backoffMs(this.#attempt++, random), askedMs));
  }

  /** One stream from its opening to its end, with a new session before it when there is none. */
  async *readStream(): AsyncGenerator<TailEvent, Interruption> {
    const { monotonicMs } = this.#options;
    let openedAt = Number.POSITIVE_INFINITY;
    this.#isFresh = false;
    try {
      const answer = await this.#open();
      openedAt = monotonicMs();
      yield { kind: "open", isResumed: this.hasOpened };
      this.hasOpened = true;
      return yield* this.#readEvents(answer);
    } catch (error) {
      return this.#interruptionBy(error);
    } finally {
      if (monotonicMs() - openedAt >= TAIL_STABLE_MS) this.#attempt = 0;
    }
  }

  async #open(): Promise<OpenAnswer> {
    const { api, silenceMs } = this.#options;
    this.#token ??= await this.#openSession();
    const answer = await api.open("GET /api/v1/logs/tail", {
      query: { token: this.#token },
      expect: 200,
      silenceMs,
      headers: {
        accept: "text/event-stream",
        ...(this.#lastEventId === "" ? {} : { "last-event-id": this.#lastEventId }),
      },
    });
    if (isEventStream(answer)) return answer;
    answer.close();
    throw foreignAnswer(api.baseUrl, "a tail");
  }

  async #openSession(): Promise<string> {
    const { api, filter } = this.#options;
    this.#isFresh = true;
    const { token } = await api.call("POST /api/v1/logs/tail/session", { body: filter, expect: 201 });
    if (typeof token === "string") return token;
    throw foreignAnswer(api.baseUrl, "a tail session");
  }

  async *#readEvents(answer: OpenAnswer): AsyncGenerator<TailEvent, Interruption> {
    const { api } = this.#options;
    const parser = new EventStreamParser(this.#lastEventId);
    // What the server says last before it ends the stream is why; when the stream goes on, it was a remark.
    let remark: ApiError | null = null;
    for await (const events of answer.events(parser)) {
      if (remark !== null) yield { kind: "notice", message: remark.message };
      remark = yield* this.#tell(events);
      this.#lastEventId = parser.lastEventId;
      this.#retryMs = parser.retryMs ?? this.#retryMs;
      if (remark === null) this.#isFresh = false;
    }
    if (remark === null) return new Interruption(`${api.baseUrl} ended the stream`);
    throw remark;
  }

  /** Tells the events of a chunk in their order; gives what is a remark or the reason of the end, if it is the last of them. */
  async *#tell(events: readonly ServerSentEvent[]): AsyncGenerator<TailEvent, ApiError | null> {
    let entries: JsonRecord[] = [];
    for (const [index, { type, data }] of events.entries()) {
      if (type === "log") {
        const entry = this.#newEntry(data);
        if (entry !== null) entries.push(entry);
        continue;
      }
      const isLast = index === events.length - 1;
      if (entries.length > 0) yield { kind: "entries", entries };
      entries = [];
      if (type === "dropped") yield droppedEvent(data);
      if (type !== "error" && type !== "end" && type !== "notice") continue;
      const remark = refusalInStream(
        data,
        type === "end" ? "the server ended the stream" : "the server says",
      );
      if (isLast && type !== "notice") return remark;
      yield { kind: "notice", message: remark.message };
    }
    if (entries.length > 0) {
      this.#attempt = 0;
      yield { kind: "entries", entries };
    }
    return null;
  }

  #newEntry(data: string): JsonRecord | null {
    const entry = parseJsonExactly(data);
    if (!isRecord(entry)) return null;
    return typeof entry.id === "string" && !this.#shown.add(entry.id) ? null : entry;
  }

  /** What a failure means: to be tried again, a session that is no more, or the end, which is thrown. */
  #interruptionBy(error: unknown): Interruption {
    if (error instanceof UnreachableError && error.retryable) return new Interruption(wordFailure(error));
    if (!(error instanceof ApiError) || (this.#isFresh && !error.retryable)) throw error;
    if (error.retryable) return new Interruption(wordFailure(error), error.waitMs);
    this.#token = null;
    return new Interruption(wordFailure(error));
  }
}

function droppedEvent(data: string): TailEvent {
  const dropped = parseJsonOrUndefined(data);
  const { count, reason } = isRecord(dropped) ? dropped : {};
  return { kind: "dropped", count: typeof count === "number" ? count : 0, isOfBreak: reason === "break" };
}
