import { closeSync, existsSync, statSync } from "node:fs";
import type { Subprocess } from "bun";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import type { Logger } from "../../log.ts";
import {
  ENGINE_LOG_CHECK_INTERVAL_MS,
  ENGINE_LOG_GENERATIONS,
  ENGINE_LOG_MAX_BYTES,
  ENGINE_PROBE_TIMEOUT_MS,
  ENGINE_RESTART_BASE_DELAY_MS,
  ENGINE_RESTART_MAX_DELAY_MS,
  ENGINE_STABLE_AFTER_MS,
  ENGINE_START_ATTEMPTS,
  ENGINE_START_POLL_MS,
  ENGINE_START_TIMEOUT_MS,
  ENGINE_STOP_TIMEOUT_MS,
} from "../limits.ts";
import type { Engine } from "./engine.ts";
import { openOutputFile, rotateOutputFile, tailOfFile } from "./output-file.ts";

type EngineState = "starting" | "running" | "waiting to restart" | "stopped";

export interface EngineStatus {
  readonly state: EngineState;
  readonly since: Date;
  /** Starts after the first one that succeeded. */
  readonly restarts: number;
  /** The process the server talks to or watches over; null while there is none. */
  readonly pid: number | null;
}

interface EngineLife {
  /** What ended it, for the operator. */
  readonly problem: string;
  readonly answeredForMs: number;
}

type Child = Subprocess<"pipe", number, number>;

/**
 * Keeps one engine running: starts it, waits until it answers, starts it again when it ends, with a growing pause,
 * and stops it by closing its standard input. One supervisor serves one life of the server.
 */
export class Supervisor {
  readonly #engine: Engine;
  readonly #log: Logger;
  readonly #stopped = Promise.withResolvers<"stopping">();
  readonly #started = Promise.withResolvers<void>();
  #stopping = false;
  #child: Child | null = null;
  #loop: Promise<void> | null = null;
  #state: EngineState = "stopped";
  #since = new Date();
  #restarts = 0;
  #everRan = false;

  constructor(engine: Engine, log: Logger) {
    this.#engine = engine;
    this.#log = log.child({ engine: engine.name });
  }

  status(): EngineStatus {
    return {
      state: this.#state,
      since: this.#since,
      restarts: this.#restarts,
      pid: this.#child?.pid ?? null,
    };
  }

  /** Resolves when the engine answers for the first time; rejects with the engine's own last words when it cannot start. */
  start(): Promise<void> {
    if (this.#loop !== null) throw new Error("A supervisor starts once.");
    this.#loop = this.#run();
    return this.#started.promise;
  }

  /** Closes the engine's standard input and waits for its end; kills it after `timeoutMs`. */
  async stop(timeoutMs = ENGINE_STOP_TIMEOUT_MS): Promise<void> {
    this.#stopping = true;
    this.#stopped.resolve("stopping");
    const child = this.#child;
    if (child !== null) await this.#end(child, timeoutMs);
    await this.#loop;
    this.#enter("stopped");
  }

  async #run(): Promise<void> {
    const rotation = setInterval(() => this.#rotate(), ENGINE_LOG_CHECK_INTERVAL_MS);
    rotation.unref();
    let failures = 0;
    try {
      while (!this.#stopping) {
        this.#enter("starting");
        const startedAt = performance.now();
        const { problem, answeredForMs } = await this.#runOnce();
        if (this.#stopping) break;
        const wasStuck = answeredForMs === 0 && performance.now() - startedAt > ENGINE_START_TIMEOUT_MS;
        failures = answeredForMs > ENGINE_STABLE_AFTER_MS ? 1 : failures + 1;
        if (!this.#everRan && (wasStuck || failures >= ENGINE_START_ATTEMPTS)) throw new Error(problem);
        const delayMs = Math.min(
          ENGINE_RESTART_BASE_DELAY_MS * 2 ** (failures - 1),
          ENGINE_RESTART_MAX_DELAY_MS,
        );
        this.#enter("waiting to restart");
        this.#log.error({ problem, delayMs }, "embedded engine ended, it is started again");
        await fulfilledWithin(this.#stopped.promise, delayMs);
      }
      this.#started.reject(new Error(`The embedded ${this.#engine.name} was stopped while it started.`));
    } catch (error) {
      this.#enter("stopped");
      this.#started.reject(error);
    } finally {
      clearInterval(rotation);
    }
  }

  /** One life of the engine's process, from its preparation to its end. */
  async #runOnce(): Promise<EngineLife> {
    let child: Child;
    const { name, outputPath } = this.#engine;
    let outputStart: number;
    try {
      await this.#engine.prepare();
      if (this.#stopping) return { problem: "stopped", answeredForMs: 0 };
      this.#rotate();
      outputStart = existsSync(outputPath) ? statSync(outputPath).size : 0;
      child = this.#spawn();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { problem: `The embedded ${name} cannot be prepared: ${reason}`, answeredForMs: 0 };
    }
    this.#child = child;
    let answeringSince: number | null = null;
    if (await this.#waitUntilAnswering(child)) {
      answeringSince = performance.now();
      this.#enter("running");
      if (this.#everRan) this.#restarts += 1;
      this.#everRan = true;
      this.#started.resolve();
      this.#log.info({ enginePid: child.pid, restarts: this.#restarts }, "embedded engine is running");
    } else if (child.exitCode === null && child.signalCode === null) {
      await this.#end(child, ENGINE_STOP_TIMEOUT_MS);
    }
    await child.exited;
    this.#child = null;
    const ending = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
    const lastWords = tailOfFile(outputPath, outputStart);
    return {
      problem: `The embedded ${name} ended (${ending}); see ${outputPath}.${lastWords === "" ? "" : `\n${lastWords}`}`,
      answeredForMs: answeringSince === null ? 0 : performance.now() - answeringSince,
    };
  }

  #spawn(): Child {
    const { command, environment, workingDirectory } = this.#engine.command();
    const output = openOutputFile(this.#engine.outputPath);
    try {
      return Bun.spawn([...command], {
        cwd: workingDirectory,
        env: { ...environment },
        stdin: "pipe",
        stdout: output,
        stderr: output,
        // Its own session: Ctrl-C in a terminal is for the server, which then stops the engine in its turn.
        detached: true,
      });
    } finally {
      closeSync(output);
    }
  }

  async #waitUntilAnswering(child: Child): Promise<boolean> {
    const deadline = performance.now() + ENGINE_START_TIMEOUT_MS;
    while (!this.#stopping && child.exitCode === null && child.signalCode === null) {
      try {
        await this.#engine.probe(AbortSignal.timeout(ENGINE_PROBE_TIMEOUT_MS));
        return true;
      } catch (error) {
        if (performance.now() > deadline) {
          this.#log.error({ err: error }, "embedded engine does not answer");
          return false;
        }
      }
      await fulfilledWithin(Promise.race([child.exited, this.#stopped.promise]), ENGINE_START_POLL_MS);
    }
    return false;
  }

  async #end(child: Child, timeoutMs: number): Promise<void> {
    await child.stdin.end();
    if (await fulfilledWithin(child.exited, timeoutMs)) return;
    this.#log.warn({ enginePid: child.pid, timeoutMs }, "embedded engine does not stop, it is killed");
    child.kill("SIGKILL");
    await child.exited;
  }

  #rotate(): void {
    try {
      rotateOutputFile(this.#engine.outputPath, {
        maxBytes: ENGINE_LOG_MAX_BYTES,
        generations: ENGINE_LOG_GENERATIONS,
      });
    } catch (error) {
      this.#log.warn({ err: error }, "the log of an embedded engine cannot be rotated");
    }
  }

  #enter(state: EngineState): void {
    this.#state = state;
    this.#since = new Date();
  }
}
