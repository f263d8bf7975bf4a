import type { Sql } from "postgres";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { broadReasonOf } from "../../entities/indicators/broad-indicator.ts";
import {
  CHANGE_MAX_INDICATORS,
  EXPIRE_MAX_CHUNKS,
  FEED_BACKOFF,
  FEED_EVERY_MS,
  FEED_LEASE_MS,
  FEED_REDIRECTS_MAX,
  FEED_STOP_MS,
  FEED_TIMEOUT_MS,
  FILE_MAX_BYTES,
} from "../../entities/indicators/limits.ts";
import { ApiError } from "../../errors.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import { backoffMs } from "../../jobs/claims/backoff.ts";
import { WorkQueue } from "../../jobs/claims/work-queue.ts";
import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import type { Logger } from "../../log.ts";
import type { GuardedFetch } from "../../outbound/guarded-fetch.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import type { Severity } from "../../problems/events.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { expireUnlisted, findDeletedFeed, forgetDeletedFeed, listedSpans } from "./listings.ts";
import { putIndicators } from "./put-indicators.ts";
import { type FileFormat, type FileReading, readFile } from "./read-file.ts";

interface FeedFetchingOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly fetch: GuardedFetch;
  /** Rings when there is something to look for in what was found before. */
  readonly onBatch: () => void;
  readonly log: Logger;
  /** For the whole answer, and chunks of listings that one change looks through; for tests. */
  readonly timeoutMs?: number;
  readonly expireChunks?: number;
}

interface DueFeed {
  readonly id: number;
  readonly claim: string;
  readonly organizationId: number;
  readonly name: string;
  readonly url: string;
  readonly format: FileFormat;
  readonly intervalSec: number;
  readonly severity: Severity | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly attempts: number;
}

/** What became of asking: null of the file where it is the same as before. */
interface Fetched {
  readonly file: FileReading | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

const FEEDS = new WorkQueue({
  table: "ioc_feeds",
  key: "id",
  claim: "claim_id",
  due: "next_fetch_at",
  attempts: "attempts",
});
const ACTOR = { kind: "job", name: "ioc-feeds" } as const;
/** Characters of a header that is sent back: what is longer is no name of a version. */
const VALIDATOR_MAX_CHARS = 512;

/** Asks feeds when their time has come, and forgets those that are deleted. What none lists any more is looked for no more. */
export class FeedFetching extends BackgroundWork {
  readonly #options: FeedFetchingOptions;

  constructor(options: FeedFetchingOptions) {
    super({
      pollMs: FEED_EVERY_MS,
      failure: "feeds of indicators could not be asked; they will be",
      stopMs: FEED_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Asks the feed that is due longest, or forgets some of one that is deleted; true when there may be more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql } = this.#options;
    const [feed] = await askPostgres(() =>
      FEEDS.take<Omit<DueFeed, "claim">>(sql, {
        where: sql`enabled`,
        order: sql`next_fetch_at`,
        max: 1,
        leaseMs: FEED_LEASE_MS,
        columns: sql`id::integer, organization_id AS "organizationId", name, url, format, interval_sec AS "intervalSec", severity,
                     etag, last_modified AS "lastModified", attempts`,
      }),
    );
    if (signal.aborted) return false;
    // What cannot be forgotten keeps no feed from being asked.
    if (feed === undefined) return this.#forgetSome();
    await this.#ask(feed);
    return true;
  }

  /** Forgets some of what a deleted feed listed; false when there is none. */
  async #forgetSome(): Promise<boolean> {
    const { sql, changes, expireChunks = EXPIRE_MAX_CHUNKS } = this.#options;
    const deleted = await askPostgres(() => findDeletedFeed(sql));
    if (deleted === null) return false;
    const { organizationId } = deleted;
    await changes.inChange(
      { organizationId, actor: ACTOR, origin: SERVER_ORIGIN },
      null,
      async ({ tx, nowMs }) => {
        await lockOrganization(tx, organizationId);
        await forgetDeletedFeed(tx, deleted, expireChunks, nowMs);
      },
    );
    return true;
  }

  async #ask(feed: DueFeed): Promise<void> {
    try {
      await this.#take(feed, await this.#fetch(feed));
    } catch (error) {
      const said =
        error instanceof OutboundError || error instanceof FileProblem || error instanceof ApiError;
      if (!said) throw error;
      await this.#fail(feed, error.message);
    }
  }

  /** Throws OutboundError, or FileProblem for what is no list. */
  async #fetch({ organizationId, url, format, etag, lastModified }: DueFeed): Promise<Fetched> {
    const answer = await this.#options.fetch(url, {
      headers: {
        accept: "text/csv, application/json, */*;q=0.1",
        ...(etag !== null && { "if-none-match": etag }),
        ...(lastModified !== null && { "if-modified-since": lastModified }),
      },
      timeoutMs: this.#options.timeoutMs ?? FEED_TIMEOUT_MS,
      maxBytes: FILE_MAX_BYTES,
      maxRedirects: FEED_REDIRECTS_MAX,
    });
    if (answer.status === 304) return { file: null, etag, lastModified };
    if (answer.status !== 200) throw new FileProblem(`The server answers ${answer.status}.`);
    // Nobody looks a feed over, so that nothing of it is taken that is about too much.
    const file = await readFile(
      format,
      await answer.bytes(),
      await broadReasonOf(this.#options.sql, organizationId),
    );
    // A page that says sorry is no list from which everything has vanished.
    if (file.indicators === 0) throw new FileProblem("The answer has no indicator that can be read.");
    const validator = (name: string): string | null => {
      const text = answer.headers.get(name);
      return text !== null && text.length <= VALIDATOR_MAX_CHARS ? text : null;
    };
    return { file, etag: validator("etag"), lastModified: validator("last-modified") };
  }

  /** Some at a time: what a server that dies leaves is taken again from the beginning, and changes nothing twice. */
  async #take(feed: DueFeed, { file, etag, lastModified }: Fetched): Promise<void> {
    const { changes, onBatch } = this.#options;
    const { organizationId, id } = feed;
    const cause = { organizationId, actor: ACTOR, origin: SERVER_ORIGIN };
    let [added, updated] = [0, 0];
    const listed = new Int32Array(file?.indicators ?? 0);
    let known = 0;
    for await (const some of file?.pieces(CHANGE_MAX_INDICATORS) ?? []) {
      const written = await changes.inChange(cause, null, async (change) => {
        const [isThere] =
          await change.tx`SELECT 1 FROM ioc_feeds WHERE organization_id = ${organizationId} AND id = ${id}`;
        return isThere && putIndicators(change, some, feed);
      });
      // Deleted meanwhile: what it has brought until now is forgotten as that of every deleted feed.
      if (written === undefined) return;
      added += written.added;
      updated += written.updated;
      listed.set(written.ids, known);
      known += written.ids.length;
    }
    const expired = file === null ? 0 : await this.#expire(feed, listed.subarray(0, known).sort());
    await changes.inChange(cause, null, async ({ tx, nowMs }) => {
      const now = new Date(nowMs);
      if (file === null)
        await tx`UPDATE ioc_feeds SET status = 'unchanged', last_error = NULL, last_fetch_at = ${now} WHERE id = ${id}`;
      else
        await tx`
          UPDATE ioc_feeds
          SET status = 'ok', last_error = NULL, last_fetch_at = ${now}, etag = ${etag}, last_modified = ${lastModified},
              added = ${added}, updated = ${updated}, expired = ${expired}, rejected = ${file.rejected}
          WHERE organization_id = ${organizationId} AND id = ${id}`;
    });
    await this.#giveBack(feed, feed.intervalSec * 1000, true);
    if (added > 0) onBatch();
  }

  /** Ends what the feed lists no more, `listed` being in ascending order what it lists; some at a time, as it is written. */
  async #expire({ organizationId, id }: DueFeed, listed: Int32Array): Promise<number> {
    const { sql, changes, expireChunks = EXPIRE_MAX_CHUNKS } = this.#options;
    const cause = { organizationId, actor: ACTOR, origin: SERVER_ORIGIN };
    let [expired, at] = [0, 0];
    const listing = { organizationId, feedId: id };
    for (const span of await askPostgres(() => listedSpans(sql, listing, expireChunks))) {
      const begin = at;
      while ((listed[at] ?? span.to) < span.to) at++;
      const still = listed.subarray(begin, at);
      expired += await changes.inChange(cause, null, async ({ tx, nowMs }) => {
        await lockOrganization(tx, organizationId);
        return expireUnlisted(tx, listing, still, nowMs, span);
      });
    }
    return expired;
  }

  async #fail(feed: DueFeed, message: string): Promise<void> {
    const { changes, log } = this.#options;
    const { organizationId, id, attempts, intervalSec } = feed;
    log.warn({ feedId: id, message }, "a feed of indicators could not be read");
    const cause = { organizationId, actor: ACTOR, origin: SERVER_ORIGIN };
    await changes.inChange(cause, null, async ({ tx, nowMs }) => {
      await tx`
        UPDATE ioc_feeds SET status = 'failed', last_error = ${message}, last_fetch_at = ${new Date(nowMs)}
        WHERE organization_id = ${organizationId} AND id = ${id}`;
    });
    await this.#giveBack(feed, Math.min(backoffMs(FEED_BACKOFF, attempts), intervalSec * 1000), false);
  }

  async #giveBack({ id, claim }: DueFeed, delayMs: number, isDone: boolean): Promise<void> {
    const { sql } = this.#options;
    const held = { claim, key: { id } };
    await askPostgres(() =>
      isDone ? FEEDS.giveBack(sql, held, delayMs) : FEEDS.postpone(sql, held, delayMs),
    );
  }
}
