import { createHash } from "node:crypto";
import { fulfilledWithin } from "../../concurrency/deadline.ts";
import { patient } from "../../concurrency/patience.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import type { Logger } from "../../log.ts";
import {
  CACHED_MAX,
  COPIES_MAX,
  COPY_EVERY_MS,
  FRESH_MS,
  KEEP_EVERY_MS,
  RETRY_MS,
  WAIT_MS,
} from "./limits.ts";
import type { PageSource, PublishedPage } from "./read-page.ts";
import type { SealedCopies } from "./sealed-copies.ts";

/** How long what is being kept may take when the server stops. */
const STOP_MS = 1_000;

interface PublishedPagesOptions {
  readonly source: PageSource;
  readonly copies: SealedCopies;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
  /** How long somebody waits for a page that is being read. */
  readonly waitMs?: number;
}

/** A page as it is shown; two that are the same object are the same in every way. */
export interface ShownPage extends PublishedPage {
  /** What everything that is made of it may be kept under. */
  readonly version: string;
}

interface Kept {
  shown: ShownPage | null;
  /** The same with its banner, made when it is first needed. */
  stale: ShownPage | null;
  readAtMs: number;
  /** Null while nobody reads it; it does not fail. */
  reading: Promise<void> | null;
  /** Whether somebody has waited for it in vain: nobody else does. */
  isLate: boolean;
  failedAtMs: number;
  /** Whether somebody has had it since it was last about to go. */
  wasAskedFor: boolean;
}

/**
 * Pages as everyone sees them: read at most every ten seconds, whoever asks and how many, and shown as last known while the
 * database is away, by a copy on disk also after a start. Bounded in memory and on disk.
 */
export class PublishedPages {
  readonly #options: PublishedPagesOptions;
  readonly #waitMs: number;
  readonly #loop: WorkLoop;
  /** By slug, the one first that goes first, unless somebody has asked for it meanwhile. */
  readonly #kept = new Map<string, Kept>();
  #slugOfHost: ReadonlyMap<string, string> = new Map();
  readonly #copiedAtMs = new Map<string, number>();

  constructor(options: PublishedPagesOptions) {
    this.#options = options;
    this.#waitMs = options.waitMs ?? patient(WAIT_MS);
    this.#loop = new WorkLoop({
      work: (signal) => this.keepCopies(signal),
      pollMs: KEEP_EVERY_MS,
      failure: "copies of status pages could not be kept",
      log: options.log,
    });
  }

  /** Learns from the copies which hosts are of pages: what is known before anything was read. */
  async openCopies(): Promise<void> {
    const hosts = new Map<string, string>();
    for (const { page, customDomain } of await this.#options.copies.readAll())
      if (customDomain !== null) hosts.set(customDomain, page.slug);
    this.#slugOfHost = hosts;
  }

  async start(): Promise<void> {
    await this.openCopies();
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(STOP_MS);
  }

  /** Something about a page has changed on this instance: the next reader sees it, and so do new hosts. */
  readonly forget = (slug: string): void => {
    this.#kept.delete(slug);
    this.#copiedAtMs.delete(slug);
    this.#loop.wake();
  };

  /** Whether any page has a host of its own. */
  get hasHosts(): boolean {
    return this.#slugOfHost.size > 0;
  }

  /** The page that answers on a host of its own; null for every other host. */
  slugOfHost(host: string): string | null {
    return this.#slugOfHost.get(host) ?? null;
  }

  /** The page of a slug where it was read lately, which is so for all but one reader in ten seconds; undefined where it was not. */
  fresh(slug: string): ShownPage | null | undefined {
    const kept = this.#kept.get(slug);
    if (kept === undefined || this.#options.now() - kept.readAtMs >= FRESH_MS) return undefined;
    kept.wasAskedFor = true;
    return kept.shown;
  }

  /** The page of a slug; null for none. Throws DependencyError when it has to be read and cannot, and there is no copy. */
  async find(slug: string): Promise<ShownPage | null> {
    const fresh = this.fresh(slug);
    if (fresh !== undefined) return fresh;
    const kept = this.#keptOf(slug);
    const { now } = this.#options;
    if ((kept.isLate || now() - kept.failedAtMs < RETRY_MS) && kept.shown !== null) return staleOf(kept);
    kept.reading ??= this.#read(slug, kept).finally(() => {
      kept.reading = null;
      kept.isLate = false;
    });
    const reading = kept.reading;
    if (kept.shown === null) kept.shown = await this.#copyUnlessRead(slug, kept, reading);
    else kept.isLate = !(await fulfilledWithin(reading, this.#waitMs));
    if (now() - kept.readAtMs < FRESH_MS) return kept.shown;
    if (kept.shown !== null) return staleOf(kept);
    // Nothing is known of it: what is wrong is said by asking once more.
    return this.#shownOf(await this.#options.source.read(slug, now()));
  }

  /** One round: every public page is read, if it was not lately, and kept on disk. */
  async keepCopies(signal: AbortSignal): Promise<boolean> {
    const { source, copies, now } = this.#options;
    const published = await source.list(COPIES_MAX);
    this.#slugOfHost = new Map(
      published.flatMap(({ slug, customDomain }) => (customDomain === null ? [] : [[customDomain, slug]])),
    );
    await copies.keepOnly(published.map(({ slug }) => slug));
    for (const { slug } of published) {
      if (signal.aborted) return false;
      if (now() - (this.#copiedAtMs.get(slug) ?? 0) < COPY_EVERY_MS) continue;
      const page = await source.read(slug, now());
      if (page !== null) await this.#copy(page);
    }
    return false;
  }

  /** What is read, or the copy where that fails or takes too long. */
  async #copyUnlessRead(slug: string, kept: Kept, reading: Promise<void>): Promise<ShownPage | null> {
    kept.isLate = !(await fulfilledWithin(reading, this.#waitMs));
    if (this.#options.now() - kept.readAtMs < FRESH_MS) return kept.shown;
    const copy = await this.#options.copies.read(slug);
    // It may have been read meanwhile.
    return kept.shown ?? this.#shownOf(copy);
  }

  async #read(slug: string, kept: Kept): Promise<void> {
    const { source, now, log } = this.#options;
    try {
      const page = await source.read(slug, now());
      kept.shown = this.#shownOf(page);
      kept.stale = null;
      kept.readAtMs = now();
      kept.failedAtMs = Number.NEGATIVE_INFINITY;
      if (page !== null && now() - (this.#copiedAtMs.get(slug) ?? 0) >= COPY_EVERY_MS) await this.#copy(page);
    } catch (error) {
      // Said once for an outage, not for every reader in it.
      if (kept.failedAtMs === Number.NEGATIVE_INFINITY)
        log.warn({ err: error }, "a status page could not be read; it is shown as last known");
      kept.failedAtMs = now();
    }
  }

  async #copy(page: PublishedPage): Promise<void> {
    await this.#options.copies.write(page);
    this.#copiedAtMs.set(page.page.slug, this.#options.now());
  }

  #shownOf(page: PublishedPage | null): ShownPage | null {
    return page === null ? null : { ...page, version: versionOf(page) };
  }

  #keptOf(slug: string): Kept {
    const kept = this.#kept.get(slug) ?? {
      shown: null,
      stale: null,
      readAtMs: Number.NEGATIVE_INFINITY,
      reading: null,
      isLate: false,
      failedAtMs: Number.NEGATIVE_INFINITY,
      wasAskedFor: false,
    };
    this.#kept.delete(slug);
    this.#kept.set(slug, kept);
    for (const [first, other] of this.#kept) {
      if (this.#kept.size <= CACHED_MAX) break;
      this.#kept.delete(first);
      // Behind all others, so that nobody who makes slugs up drives out what is read.
      if (other.wasAskedFor) this.#kept.set(first, other);
      other.wasAskedFor = false;
    }
    return kept;
  }
}

function staleOf(kept: Kept): ShownPage | null {
  if (kept.shown === null) return null;
  kept.stale ??= {
    ...kept.shown,
    page: { ...kept.shown.page, isStale: true },
    version: `${kept.shown.version}-stale`,
  };
  return kept.stale;
}

function versionOf(page: PublishedPage): string {
  return createHash("sha256").update(JSON.stringify(page)).digest("base64url").slice(0, 22);
}
