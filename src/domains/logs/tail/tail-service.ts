import type { Redis } from "ioredis";
import type { Ingest } from "../../../../ingest/index.ts";
import { FairShare } from "../../../concurrency/fair-share.ts";
import { MemoryShare } from "../../../concurrency/memory-share.ts";
import { ApiError, validationFailed } from "../../../errors.ts";
import type { Logger } from "../../../log.ts";
import type { QueryRunner } from "../../../storage/query-runner.ts";
import { DeliveryRates } from "./delivery-rate.ts";
import { FanOut } from "./fan-out.ts";
import {
  ARCHIVED_MIN_AGE_MS,
  GAP_STORE_POLL_MS,
  GAP_STORE_WAIT_MS,
  POLL_HORIZON_MS,
  POLL_INTERVAL_MS,
  POLLED_STREAMS_MAX,
  POLLED_STREAMS_PER_ORGANIZATION_MAX,
  POSITION_HORIZON_MS,
  QUEUES_MEMORY_CHARS,
  REFUSED_RETRY_MS,
  SESSION_TOUCH_MS,
  STREAMS_MAX,
  STREAMS_PER_ORGANIZATION_MAX,
  STREAMS_PER_PERSON_MAX,
  STREAMS_PER_TOKEN_MAX,
} from "./limits.ts";
import { type OpenStream, OpenStreams } from "./open-streams.ts";
import { idBefore, sourceOf, TailPosition } from "./position.ts";
import { readTailFilter } from "./read-filter.ts";
import { StoredGap } from "./stored-gap.ts";
import type { TailFilter } from "./tail-filter.ts";
import type { TailHub } from "./tail-hub.ts";
import type { TailMetrics } from "./tail-metrics.ts";
import { credentialKey, type TailGrant, type TailSessions } from "./tail-sessions.ts";
import { type TailGap, TailStream } from "./tail-stream.ts";
import type { StreamParameters } from "./types.ts";
import { WriteRounds } from "./write-rounds.ts";

export interface TailServiceOptions {
  readonly sessions: TailSessions;
  readonly hub: TailHub;
  readonly ingest: Pick<Ingest, "idMark" | "wal">;
  readonly runner: QueryRunner;
  /** Null for a server that is alone. */
  readonly redis: Redis | null;
  readonly metrics: { readonly tail: TailMetrics };
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  /** Whether the archive has a file of that day of receipt (`YYYY-MM-DD`) or a later one. */
  readonly hasFilesSince: (organizationId: number, day: string) => Promise<boolean>;
  /** Shorter than usual in tests. */
  readonly commentIntervalMs?: number;
  readonly credentialCheckMs?: number;
  readonly gapStoreWaitMs?: number;
}

/** One stream while it is set up. */
interface Opening {
  readonly grant: TailGrant;
  readonly filter: TailFilter;
  readonly stream: TailStream;
  readonly position: TailPosition;
  /** This server's own entries up to it are read back, later ones delivered. */
  readonly mark: bigint;
  /** Called when the stream has ended. */
  readonly leaving: (() => void)[];
  readonly signal: AbortSignal;
}

/** The live tails of one server. */
export class TailService {
  readonly #options: TailServiceOptions;
  readonly #streams: OpenStreams;
  readonly #memory = new FairShare(QUEUES_MEMORY_CHARS);
  readonly #rates: DeliveryRates;
  readonly #rounds: WriteRounds;
  readonly #closing = new AbortController();
  readonly #touchTimer: Timer;
  readonly #fanOut: FanOut | null;
  /** Those that ask the store again and again, with their organizations. */
  readonly #polled = new Map<TailStream, number>();

  constructor(options: TailServiceOptions) {
    const { sessions, monotonicMs, log, credentialCheckMs, redis } = options;
    this.#options = options;
    this.#rates = new DeliveryRates(monotonicMs);
    this.#rounds = new WriteRounds(monotonicMs);
    this.#streams = new OpenStreams({
      validCredentials: (credentials) => sessions.valid(credentials),
      monotonicMs,
      log,
      ...(credentialCheckMs !== undefined && { checkIntervalMs: credentialCheckMs }),
    });
    this.#touchTimer = setInterval(() => sessions.touch(this.#streams.sessionIds), SESSION_TOUCH_MS);
    this.#touchTimer.unref();
    this.#fanOut = redis === null ? null : this.#openFanOut(redis);
  }

  /**
   * Opens a stream. Throws UNAUTHENTICATED, PAT_SCOPE_INSUFFICIENT, VALIDATION_FAILED, UNAVAILABLE and DependencyError;
   * what comes up later the stream says itself.
   */
  async open(request: Request, { token, ...parameters }: StreamParameters): Promise<TailStream> {
    const resumeFrom = readLastEventId(request);
    const { sessions, ingest, metrics, now, monotonicMs, commentIntervalMs } = this.#options;
    const grant = await sessions.authorize(request, token);
    const filter = readTailFilter(parameters, grant.parameters, now());
    if (this.#streams.size >= STREAMS_MAX)
      throw new ApiError("UNAVAILABLE", "Too many live tails at once.", { retryAfterSeconds: 5 });

    // From here to the end nothing else runs, so that what is read back and what is delivered meet at the mark.
    const { organizationId, userId, credential } = grant;
    const memory = new MemoryShare(this.#memory, [organizationId, userId]);
    const mark = ingest.idMark();
    const gone = new AbortController();
    const leaving: (() => void)[] = [() => gone.abort()];
    const position = resumeFrom ?? TailPosition.at(now(), mark);
    const stream = new TailStream({
      position,
      memory,
      rate: this.#rates.open(),
      rounds: this.#rounds,
      metrics: metrics.tail,
      monotonicMs,
      catchUp: (reached) => {
        if (!this.#polled.has(stream)) this.#catchUp(reached);
      },
      onUndecided: () => this.#poll(opening),
      onEnd: () => {
        for (const leave of leaving) leave();
        this.#polled.delete(stream);
        this.#streams.delete(open);
        memory.close();
        if (credential.kind === "tail") sessions.touch([credential.id]);
      },
      ...(commentIntervalMs !== undefined && { commentIntervalMs }),
    });
    const crowd = this.#crowdAround(grant);
    const open: OpenStream = { stream, organizationId, userId, credential };
    this.#streams.add(open);
    const opening: Opening = { grant, filter, stream, position, mark, leaving, signal: gone.signal };
    if (crowd !== null) refuse(stream, `${crowd} live tails at once.`);
    else if (filter.isLive) this.#deliver(opening, resumeFrom !== null);
    else this.#poll(opening);
    return stream;
  }

  /** Ends all streams, so that their readers come back when the server does. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#touchTimer);
    this.#streams.close("end", { code: "UNAVAILABLE", message: "The server is stopping." });
    await this.#fanOut?.close();
  }

  /** Who has as many streams as may be; null when there is room. */
  #crowdAround({ organizationId, userId, credential }: TailGrant): string | null {
    const count = (isLike: (open: OpenStream) => boolean): number =>
      this.#streams.countOf((open) => open.organizationId === organizationId && isLike(open));
    if (count(() => true) >= STREAMS_PER_ORGANIZATION_MAX)
      return `An organization has at most ${STREAMS_PER_ORGANIZATION_MAX}`;
    if (count((open) => open.userId === userId) >= STREAMS_PER_PERSON_MAX)
      return `A person has at most ${STREAMS_PER_PERSON_MAX}`;
    if (
      credential.kind === "tail" &&
      count((open) => credentialKey(open.credential) === credentialKey(credential)) >= STREAMS_PER_TOKEN_MAX
    )
      return `A tail session has at most ${STREAMS_PER_TOKEN_MAX}`;
    return null;
  }

  /** Shows what is committed here, and on other servers, as it comes. */
  #deliver(opening: Opening, isResumed: boolean): void {
    const { grant, filter, stream, mark, leaving } = opening;
    const { organizationId } = grant;
    const local = sourceOf(mark);
    if (isResumed) stream.fill(this.#gapOf(opening, local, mark, this.#isStored()), () => undefined);
    leaving.push(this.#options.hub.add(organizationId, filter, stream));
    if (this.#fanOut === null) return;
    const fill = (source: number, through: bigint, onFilled: () => void): void =>
      stream.fill(
        this.#gapOf(opening, source, through, () => true),
        onFilled,
      );
    leaving.push(this.#fanOut.add({ stream, organizationId, key: filter.key, fill }));
    if (!this.#fanOut.isComplete) stream.say("notice", PARTIAL);
  }

  /** Asks the store again and again, for a filter that nobody else can evaluate; nothing is delivered any more. */
  #poll(opening: Opening): void {
    const { grant, stream, position, leaving, signal } = opening;
    const { ingest, now } = this.#options;
    if (this.#polled.has(stream)) return;
    const own = [...this.#polled.values()].filter((id) => id === grant.organizationId).length;
    if (this.#polled.size >= POLLED_STREAMS_MAX || own >= POLLED_STREAMS_PER_ORGANIZATION_MAX) {
      refuse(
        stream,
        `At most ${POLLED_STREAMS_PER_ORGANIZATION_MAX} tails of an organization at a time, and ${POLLED_STREAMS_MAX} in all, can have a query that takes the log store.`,
      );
      return;
    }
    this.#polled.set(stream, grant.organizationId);
    // All but the first, which ends what is under way.
    for (const leave of leaving.splice(1)) leave();
    stream.forget();
    const look = (): void => {
      if (signal.aborted) return;
      const mark = ingest.idMark();
      stream.fill(this.#gapOf(opening, sourceOf(mark), mark, this.#isStored()), () => {
        position.raiseFloor(idBefore(now() - POLL_HORIZON_MS), sourceOf(mark));
        setTimeout(look, POLL_INTERVAL_MS);
      });
    };
    look();
  }

  /** What a stream has missed up to `through` of that server, and of servers that do not deliver to it. */
  #gapOf(opening: Opening, source: number, through: bigint, isStored: () => boolean): TailGap {
    const { grant, filter, stream, position, mark, signal } = opening;
    const delivering = new Set(this.#fanOut?.sourcesOf(stream) ?? []);
    if (source !== sourceOf(mark)) delivering.add(sourceOf(mark));
    return new StoredGap({
      runner: this.#options.runner,
      caller: { organizationId: grant.organizationId, userId: grant.userId, signal },
      memory: this.#memory,
      filter,
      position,
      through: new Map([[source, through]]),
      except: delivering,
      isStored,
      storeWaitMs: this.#options.gapStoreWaitMs ?? GAP_STORE_WAIT_MS,
      isArchivedSince: async (epochMs) =>
        this.#options.now() - epochMs >= ARCHIVED_MIN_AGE_MS &&
        this.#options.hasFilesSince(grant.organizationId, new Date(epochMs).toISOString().slice(0, 10)),
    });
  }

  /** Says whether the store has everything that is durable at this moment. */
  #isStored(): () => boolean {
    const { wal } = this.#options.ingest;
    const { durableEnd } = wal;
    return () => wal.ledger.flushedThrough >= durableEnd;
  }

  async #storedMark(): Promise<bigint> {
    const mark = this.#options.ingest.idMark();
    const isStored = this.#isStored();
    while (!isStored()) {
      if (this.#closing.signal.aborted) throw new Error("the server is stopping");
      await Bun.sleep(GAP_STORE_POLL_MS);
    }
    return mark;
  }

  #openFanOut(redis: Redis): FanOut {
    const { hub, ingest, log, monotonicMs } = this.#options;
    return new FanOut({
      redis,
      hub,
      rates: this.#rates,
      source: sourceOf(ingest.idMark()),
      storedMark: () => this.#storedMark(),
      onComplete: (isComplete) => this.#streams.say("notice", isComplete ? COMPLETE : PARTIAL),
      log,
      monotonicMs,
    });
  }

  #catchUp(position: TailPosition): void {
    const { hub, ingest, now } = this.#options;
    if (!hub.isIdle) return;
    const mark = ingest.idMark();
    position.pass(mark);
    if (this.#fanOut?.isComplete === false) return;
    position.raiseFloor(idBefore(now() - POSITION_HORIZON_MS), sourceOf(mark));
  }
}

const PARTIAL = { code: "TAIL_PARTIAL", message: "Other servers are not heard: their entries follow later." };
const COMPLETE = { code: "TAIL_COMPLETE", message: "All servers are heard again." };

function refuse(stream: TailStream, message: string): void {
  stream.end("error", { code: "TAIL_LIMIT_REACHED", message }, REFUSED_RETRY_MS);
}

/** Where a reader that comes back was; null for a new one. */
function readLastEventId(request: Request): TailPosition | null {
  const text = request.headers.get("last-event-id");
  if (text === null || text === "") return null;
  const position = TailPosition.parse(text);
  if (position === null)
    throw validationFailed([
      { path: "/Last-Event-ID", code: "invalid_string", message: "is not an id of this stream" },
    ]);
  return position;
}
