import type { Redis } from "ioredis";
import type { Logger } from "../../../log.ts";
import type { DeliveryRates } from "./delivery-rate.ts";
import {
  type Hello,
  inboxChannel,
  readAnnouncement,
  readLetter,
  SERVERS_CHANNEL,
} from "./fan-out-messages.ts";
import {
  HELLO_DELAY_MS,
  HELLO_INTERVAL_MS,
  PEER_SILENT_MS,
  PEERS_MAX,
  POSITION_HORIZON_MS,
} from "./limits.ts";
import { Peer } from "./peer.ts";
import { RemoteStreams, type SharedStream } from "./remote-streams.ts";
import type { TailHub } from "./tail-hub.ts";
import type { TailStream } from "./tail-stream.ts";

interface FanOutOptions {
  /** A client that fails at once while it is not connected. */
  readonly redis: Redis;
  readonly hub: TailHub;
  readonly rates: DeliveryRates;
  /** The number of this server among the ids. */
  readonly source: number;
  /** Resolves with the mark of this moment once the store has everything up to it. */
  readonly storedMark: () => Promise<bigint>;
  /** Called when it changes whether streams see what all servers take in. */
  readonly onComplete: (isComplete: boolean) => void;
  readonly log: Logger;
  readonly monotonicMs: () => number;
}

interface HeardPeer {
  readonly peer: Peer;
  source: number;
  heardAtMs: number;
}

/**
 * Shares live tails among servers through Redis. Every server says what its streams want; whoever takes in entries
 * that are wanted elsewhere sends them there, and nothing is sent that nobody wants. Redis may lose messages: each
 * server counts those to each other one, and a hole makes the receiver begin anew, reading back from the store what it
 * missed. Without Redis every server shows what it takes in itself.
 */
export class FanOut {
  readonly #options: FanOutOptions;
  readonly #name = crypto.randomUUID();
  readonly #inbox: Redis;
  readonly #peers = new Map<string, HeardPeer>();
  readonly #streams: RemoteStreams;
  readonly #timer: Timer;
  #helloTimer: Timer | null = null;
  #isConnected = false;
  #isComplete = true;
  #isClosed = false;

  constructor(options: FanOutOptions) {
    this.#options = options;
    this.#streams = new RemoteStreams({ onHole: () => this.#beginAnew() });
    this.#inbox = options.redis.duplicate();
    this.#inbox.on("error", () => undefined);
    this.#inbox.on("ready", () => void this.#subscribe());
    this.#inbox.on("close", () => this.#disconnected());
    this.#inbox.on("message", (channel: string, text: string) => this.#receive(channel, text));
    this.#timer = setInterval(() => this.#tick(), HELLO_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Whether streams see what all servers take in. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The other servers whose entries the stream gets. */
  sourcesOf(stream: TailStream): ReadonlySet<number> {
    return this.#streams.sourcesOf(stream);
  }

  /** Gets the stream what other servers take in, until the returned function is called. */
  add(shared: SharedStream): () => void {
    const remove = this.#streams.add(shared, this.#sources());
    this.#helloSoon();
    return () => {
      remove();
      this.#helloSoon();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    if (this.#helloTimer !== null) clearTimeout(this.#helloTimer);
    for (const { peer } of this.#peers.values()) peer.leave();
    await this.#announce({ type: "bye", from: this.#name });
    this.#inbox.disconnect();
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#inbox.subscribe(SERVERS_CHANNEL, inboxChannel(this.#name));
    } catch (error) {
      this.#options.log.warn({ err: error }, "live tails of other servers are not heard");
      this.#inbox.disconnect(true);
      return;
    }
    this.#isConnected = true;
    this.#beginAnew();
  }

  #disconnected(): void {
    this.#isConnected = false;
    this.#judgeCompleteness();
  }

  /** Something may have been missed: all streams are filled up from the store. */
  #beginAnew(): void {
    this.#streams.beginAnew(this.#sources());
    this.#helloSoon();
  }

  #tick(): void {
    const goneSince = this.#options.monotonicMs() - POSITION_HORIZON_MS;
    for (const [name, heard] of this.#peers) {
      if (!this.#isMissing(heard)) continue;
      heard.peer.leave();
      this.#streams.forget(heard.source);
      if (heard.heardAtMs < goneSince) this.#peers.delete(name);
    }
    this.#judgeCompleteness();
    this.#hello();
  }

  #helloSoon(): void {
    if (this.#isClosed) return;
    this.#helloTimer ??= setTimeout(() => {
      this.#helloTimer = null;
      this.#hello();
    }, HELLO_DELAY_MS);
  }

  #hello(): void {
    const { source } = this.#options;
    const { epoch, interests } = this.#streams;
    void this.#announce({ type: "hello", from: this.#name, source, epoch, interests });
  }

  /** What is not said now is said again at the next tick. */
  async #announce(message: object): Promise<void> {
    await this.#options.redis.publish(SERVERS_CHANNEL, JSON.stringify(message)).catch(() => undefined);
  }

  #receive(channel: string, text: string): void {
    if (this.#isClosed) return;
    if (channel === SERVERS_CHANNEL) {
      const message = readAnnouncement(text);
      if (message === null || message.from === this.#name) return;
      if (message.type === "hello") this.#greet(message);
      else this.#part(message.from);
    } else {
      const letter = readLetter(text);
      if (letter !== null) this.#streams.open(letter);
    }
  }

  #greet(hello: Hello): void {
    const known = this.#peers.get(hello.from);
    if (known === undefined && this.#peers.size >= PEERS_MAX) return;
    const heard = known ?? { peer: this.#makePeer(hello.from), source: hello.source, heardAtMs: -Infinity };
    this.#peers.set(hello.from, heard);
    const wasMissing = this.#isMissing(heard);
    heard.heardAtMs = this.#options.monotonicMs();
    heard.peer.hear(hello);
    // It may not have heard of what is wanted here, or of none of it for a while.
    if (wasMissing) this.#beginAnew();
    this.#judgeCompleteness();
  }

  #part(name: string): void {
    const heard = this.#peers.get(name);
    if (heard === undefined) return;
    heard.peer.leave();
    this.#peers.delete(name);
    this.#streams.forget(heard.source);
    this.#judgeCompleteness();
  }

  #makePeer(name: string): Peer {
    const { redis, hub, rates, storedMark, source } = this.#options;
    return new Peer({
      hub,
      rates,
      storedMark,
      post: (body, epoch, number) =>
        redis.publish(
          inboxChannel(name),
          JSON.stringify({ ...body, from: this.#name, source, epoch, number }),
        ),
    });
  }

  /** Of the servers that can be heard. */
  #sources(): number[] {
    return [...this.#peers.values()].map(({ source }) => source);
  }

  #isMissing({ heardAtMs }: HeardPeer): boolean {
    return heardAtMs < this.#options.monotonicMs() - PEER_SILENT_MS;
  }

  #judgeCompleteness(): void {
    const isComplete =
      this.#isConnected && ![...this.#peers.values()].some((heard) => this.#isMissing(heard));
    if (isComplete === this.#isComplete) return;
    this.#isComplete = isComplete;
    this.#options.onComplete(isComplete);
  }
}
