import type { CheckSettings } from "../../../src/probes/index.ts";
import {
  type Assignment,
  CheckThread,
  monotonicMs,
  SlotClock,
  type SlotResult,
} from "../../../src/probes/index.ts";
import { backoffMs } from "../../api/backoff.ts";
import type { ApiClient } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import { EventStreamParser, isEventStream, type ServerSentEvent } from "../../api/stream.ts";
import { CliError } from "../cli-error.ts";
import { foreignAnswer } from "../failures.ts";
import { PROBE_ALONE_MAX_MS, PROBE_SEND_EVERY_MS, PROBE_SILENCE_MS } from "../limits.ts";
import { ResultBuffer } from "./result-buffer.ts";

interface ProbeOptions {
  readonly api: ApiClient;
  readonly program: URL;
  readonly settings: CheckSettings;
  readonly region: string;
  readonly say: (text: string) => Promise<void>;
}

/**
 * Checks from here what the server assigns, over connections that go out only, and hands in what it finds. Without the server
 * it goes on for ten minutes and keeps the results. Ends by throwing: when the server refuses the token.
 */
export async function runProbe(options: ProbeOptions): Promise<never> {
  return new Probe(options).run();
}

class Probe {
  readonly #options: ProbeOptions;
  readonly #results = new ResultBuffer();
  readonly #assigned = new Set<number>();
  #clock: SlotClock | null = null;
  #thread: CheckThread | null = null;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  async run(): Promise<never> {
    return Promise.race([this.#follow(), this.#send()]);
  }

  /** Reads what is assigned, again and again. */
  async #follow(): Promise<never> {
    let attempt = 0;
    for (;;) {
      try {
        for await (const events of await this.#open()) {
          attempt = 0;
          for (const event of events) this.#take(event);
        }
        throw new Error("the server ended the stream");
      } catch (error) {
        await this.#endure(error, "no assignments");
      }
      await Bun.sleep(backoffMs(attempt++, Math.random()));
    }
  }

  async #open(): Promise<AsyncIterable<readonly ServerSentEvent[]>> {
    const { api } = this.#options;
    const answer = await api.open("GET /api/v1/probes/assignments", {
      expect: 200,
      silenceMs: PROBE_SILENCE_MS,
      headers: { accept: "text/event-stream" },
    });
    if (!isEventStream(answer)) {
      answer.close();
      throw foreignAnswer(api.baseUrl, "a stream for probes");
    }
    return answer.events(new EventStreamParser(""));
  }

  /** Hands in what was found, again and again; what is not acknowledged is sent again, and known by the server then. */
  async #send(): Promise<never> {
    let attempt = 0;
    for (;;) {
      const results = this.#results.next(monotonicMs());
      try {
        if (results.length > 0)
          await this.#options.api.call("POST /api/v1/probes/results", {
            body: { results: results.map(plainResult) },
            expect: 200,
          });
        this.#results.sent(results);
        attempt = 0;
      } catch (error) {
        // The server is of another version: what it does not understand it will not understand later.
        if (error instanceof ApiError && error.status === 400) this.#results.sent(results);
        await this.#endure(error, `${this.#results.size} results wait`);
        await Bun.sleep(backoffMs(attempt++, Math.random()));
      }
      await Bun.sleep(PROBE_SEND_EVERY_MS);
    }
  }

  /** A token that is refused stays refused; anything else may pass. */
  async #endure(error: unknown, what: string): Promise<void> {
    if (error instanceof CliError || (error instanceof ApiError && error.status === 401)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    await this.#options.say(`${what}: ${reason}`);
  }

  #take({ type: event, data }: ServerSentEvent): void {
    const value = parseJsonOrUndefined(data);
    if (!isRecord(value)) return;
    if (event === "time" && typeof value.slotMs === "number") {
      if (value.region !== this.#options.region)
        throw new CliError(`the token is that of the region ${String(value.region)}`);
      this.#followClock(value.slotMs);
    }
    if (event === "assign" && isAssignments(value.assignments)) this.#assign(value.assignments);
    else if (event === "drop" && isIds(value.monitorIds)) this.#drop(value.monitorIds);
    else if (event === "known" && isIds(value.monitorIds)) {
      const known = new Set(value.monitorIds);
      this.#drop([...this.#assigned].filter((id) => !known.has(id)));
    }
  }

  #followClock(slotMs: number): void {
    this.#clock ??= new SlotClock(slotMs, monotonicMs());
    this.#clock.follow(slotMs, monotonicMs());
    this.#thread ??= this.#begin(this.#clock);
    this.#thread.goOn(monotonicMs() + PROBE_ALONE_MAX_MS);
  }

  #assign(assignments: readonly Assignment[]): void {
    for (const { monitorId } of assignments) this.#assigned.add(monitorId);
    this.#thread?.assign(assignments);
  }

  #drop(monitorIds: readonly number[]): void {
    for (const id of monitorIds) this.#assigned.delete(id);
    this.#thread?.drop(monitorIds);
  }

  #begin(clock: SlotClock): CheckThread {
    const { program, settings, say } = this.#options;
    const thread = new CheckThread({
      program,
      settings,
      canaries: [],
      time: () => clock.time,
      onResults: (results) => this.#results.add(results, monotonicMs()),
      onFault: (message) => void say(message),
      onDeath: (error) => void say(`the thread that makes checks died: ${String(error)}`),
      // What was assigned is known to the server only: the process is begun anew by whoever runs it.
      onRestart: () => process.exit(1),
    });
    thread.start();
    return thread;
  }
}

/** Nothing was left out of an outcome by a probe: every monitor that it is told is checked. */
function plainResult({ monitorId, slotMs, startedAtMs, lateMs, outcome }: SlotResult) {
  if (outcome === null) throw new Error("a probe had nothing to check");
  return { monitorId, slotMs, startedAtMs, lateMs, outcome };
}

/** What the server of this program's own version assigns; it has judged it before. */
function isAssignments(value: unknown): value is readonly Assignment[] {
  return (
    Array.isArray(value) &&
    value.every((item) => isRecord(item) && typeof item.monitorId === "number" && isRecord(item.check))
  );
}

function isIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((id) => typeof id === "number");
}
