import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { FileProblem } from "../cli-error.ts";
import { FILES_MAX, FOLLOW_FILES_MAX, FOLLOW_RESCAN_MS } from "../limits.ts";
import type { FileShipper } from "./file-shipper.ts";
import { type InputFile, openInputFile } from "./input-file.ts";
import type { ShipResult } from "./ship.ts";

interface FollowOptions {
  readonly shipper: FileShipper;
  /** The files that are wanted now: a pattern may match others later. */
  readonly wanted: () => Promise<readonly string[]>;
  /** The files there are at first are shipped from their beginning. */
  readonly fromStart: boolean;
  readonly interrupted: AbortSignal;
  readonly onShipped: (result: ShipResult) => void;
  /** Told what happens to files, a line each. */
  readonly onNotice: (message: string) => void;
}

/**
 * Follows files until it is interrupted: those that are there, those that come, and what replaces them. Each is followed by
 * itself, known by its inode, so that a renamed file is finished while the one that took its name is read already.
 */
export async function followFiles(options: FollowOptions): Promise<void> {
  const following = new Following(options);
  for (const path of await options.wanted()) await following.finishRotated(path);
  while (!options.interrupted.aborted && following.failure === null) {
    await following.look();
    const stop = AbortSignal.any([options.interrupted, following.failed]);
    await setTimeout(FOLLOW_RESCAN_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  await following.ended();
  if (following.failure !== null) throw following.failure.error;
}

class Following {
  readonly #options: FollowOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** Files that have no more: compressed ones, and those that were refused. */
  readonly #done = new Set<string>();
  readonly #rewritten = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #failing = new AbortController();
  #isFirstLook = true;
  #toldFull = false;
  failure: { readonly error: unknown } | null = null;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  get failed(): AbortSignal {
    return this.#failing.signal;
  }

  /** Begins to follow what is wanted and not followed yet. */
  async look(): Promise<void> {
    for (const path of await this.#options.wanted()) {
      if (this.#options.interrupted.aborted) return;
      const status = await stat(path, { bigint: true }).catch(() => null);
      if (status === null) {
        this.#tellMissing(path);
        continue;
      }
      this.#missing.delete(path);
      const key = `${status.dev}:${status.ino}`;
      if (this.#running.has(key) || this.#done.has(key)) continue;
      if (this.#running.size >= FOLLOW_FILES_MAX) return this.#tellFull();
      await this.#follow(path, key);
    }
    this.#isFirstLook = false;
  }

  /** Ships the rest of files that were begun under this name and have been renamed since, within their folder. */
  async finishRotated(path: string): Promise<void> {
    const folder = dirname(path);
    const names = await readdir(folder).catch(() => []);
    for (const name of names.slice(0, FILES_MAX)) {
      const sibling = join(folder, name);
      if (sibling === path) continue;
      const input = await openInputFile(sibling).catch(() => null);
      if (input === null) continue;
      const state = input.compression === null ? await this.#options.shipper.stateOf(input) : null;
      if (state?.file === path && state.position.offset < input.size) await this.#begin(input, false);
      else await input[Symbol.asyncDispose]();
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #follow(path: string, key: string): Promise<void> {
    try {
      await this.#begin(await openInputFile(path), true);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      this.#done.add(key);
      this.#options.onNotice(error.message);
    }
  }

  async #begin(input: InputFile, follow: boolean): Promise<void> {
    const { dev, ino } = await input.file.stat({ bigint: true });
    const key = `${dev}:${ino}`;
    if (this.#running.has(key) || this.#done.has(key)) return input[Symbol.asyncDispose]();
    const fromStart = this.#rewritten.delete(key) || (this.#isFirstLook && this.#options.fromStart);
    const manner = { fromStart, follow: follow && input.compression === null };
    this.#running.set(key, this.#run(key, input, manner));
  }

  async #run(key: string, input: InputFile, manner: { fromStart: boolean; follow: boolean }): Promise<void> {
    const { shipper, onShipped, onNotice, interrupted } = this.#options;
    try {
      await using open = input;
      const result = await shipper.ship(open, manner);
      onShipped(result);
      if (!manner.follow) this.#done.add(key);
      if (result.isTruncated) this.#rewritten.add(key);
      if (interrupted.aborted) return;
      if (result.isTruncated) onNotice(`${input.path} was truncated; going on from its beginning`);
      else if (manner.follow)
        onNotice(`${input.path} was renamed or removed; it has been shipped to its end`);
    } catch (error) {
      if (error instanceof FileProblem) {
        this.#done.add(key);
        onNotice(error.message);
      } else {
        this.failure ??= { error };
        this.#failing.abort();
      }
    } finally {
      this.#running.delete(key);
    }
  }

  #tellMissing(path: string): void {
    if (this.#missing.has(path)) return;
    this.#missing.add(path);
    this.#options.onNotice(`no such file: ${path}; waiting for it`);
  }

  #tellFull(): void {
    if (this.#toldFull) return;
    this.#toldFull = true;
    this.#options.onNotice(`more than ${FOLLOW_FILES_MAX} files: the others are not followed`);
  }
}
