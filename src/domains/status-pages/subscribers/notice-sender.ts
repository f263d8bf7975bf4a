import type { Sql } from "postgres";
import { type PublicIncident, readPublicIncident } from "../../../incidents/public-incidents.ts";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import { backoffMs } from "../../../jobs/claims/backoff.ts";
import { whenDue } from "../../../jobs/due-watch.ts";
import type { Logger } from "../../../log.ts";
import type { EnqueueMail } from "../../../notify/mail/outbox.ts";
import { subscriptionMail } from "../../../notify/mail/templates.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import type { PublishedPages } from "../published-pages.ts";
import { shownIncident } from "../read-page.ts";
import { WORDS } from "../words.ts";
import { ATTEMPTS_MAX, BACKOFF, BATCH_MAX, POLL_MS, TOLD_OF_END_MS } from "./limits.ts";
import { type News, type NoticeWay, SubscriberRefused } from "./news.ts";
import {
  dropTelling,
  endFailing,
  endTelling,
  findNoticeSubscriber,
  isForChannel,
  NOTICES,
  type TakenNotice,
  takeNotices,
} from "./notice-store.ts";

/** How long what is on its way may take when the server stops; cut off, it is sent again. */
const STOP_MS = 1_000;

interface NoticeSenderOptions {
  readonly sql: Sql;
  readonly way: NoticeWay;
  readonly pages: PublishedPages;
  readonly enqueueMail: EnqueueMail;
  readonly log: Logger;
  readonly now: () => number;
}

/** What is sent, and what is then known to have been told. */
interface Prepared {
  /** Null where nothing is new. */
  readonly news: News | null;
  readonly lastUpdateId: number;
  readonly status: string;
}

/**
 * Tells subscribers of one kind. It has a queue and connections of its own, so that ten thousand of them hold up neither
 * whoever is paged nor a forgotten password, nor those of one kind the other.
 */
export class NoticeSender extends BackgroundWork {
  readonly #options: NoticeSenderOptions;

  constructor(options: NoticeSenderOptions) {
    super({
      pollMs: POLL_MS,
      watch: whenDue(options.sql, (sql) => NOTICES.isDue(sql, isForChannel(sql, options.way.channel))),
      failure: "what subscribers of status pages are to be told could not be read",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Sends one batch of what is due; true when there may be more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, way } = this.#options;
    const taken = await askPostgres(() => takeNotices(sql, way.channel));
    await Promise.all(taken.map((notice) => this.#tell(notice, signal)));
    return taken.length === BATCH_MAX;
  }

  async #tell(notice: TakenNotice, stopped: AbortSignal): Promise<void> {
    const { sql, way, log } = this.#options;
    try {
      const prepared = await this.#prepare(notice);
      if (prepared === null) {
        await askPostgres(() => dropTelling(sql, notice));
        return;
      }
      if (prepared.news !== null) await way.send(prepared.news, stopped);
      await askPostgres(() => endTelling(sql, notice, prepared));
    } catch (error) {
      log.warn(
        { noticeId: notice.id, attempt: notice.attempt, err: error },
        "a subscriber could not be told",
      );
      const isRefused = error instanceof SubscriberRefused;
      if (!isRefused && notice.attempt < ATTEMPTS_MAX)
        await askPostgres(() => NOTICES.postpone(sql, notice, backoffMs(BACKOFF, notice.attempt)));
      else await this.#giveUp(notice, isRefused && error.isForever);
    }
  }

  /** An endpoint that fails again and again is told nothing any more, and whoever named it hears of that. */
  async #giveUp(notice: TakenNotice, isForever: boolean): Promise<void> {
    const { sql, enqueueMail, now, way } = this.#options;
    await askPostgres(() => dropTelling(sql, notice));
    if (way.channel !== "webhook") return;
    await askPostgres(() =>
      inOrganization(sql, notice.organizationId, async (tx) => {
        const ended = await endFailing(tx, notice, isForever);
        if (ended === null) return;
        const { mail } = WORDS;
        const message = subscriptionMail({
          to: ended.email,
          subject: mail.endedSubject(ended.page),
          paragraphs: [mail.endedText(ended.webhookHost, ended.page)],
          button: null,
          closing: mail.closing,
          unsubscribe: null,
        });
        await enqueueMail(tx, message, now() + TOLD_OF_END_MS);
      }),
    );
  }

  async #prepare(notice: TakenNotice): Promise<Prepared | null> {
    const { sql, pages } = this.#options;
    const { organizationId, subscriberId, incidentId } = notice;
    const { subscriber, incident } = await askPostgres(() =>
      inOrganization(sql, organizationId, async (tx) => ({
        subscriber: await findNoticeSubscriber(tx, organizationId, subscriberId),
        incident: await readPublicIncident(tx, organizationId, incidentId),
      })),
    );
    if (subscriber === null || incident === null) return null;
    const told = { lastUpdateId: incident.updates[0]?.id ?? notice.lastUpdateId, status: incident.status };
    if (!isNews(notice, incident)) return { news: null, ...told };
    const shown = await pages.find(subscriber.slug);
    if (shown === null) return null;
    const components = shown.page.groups.flatMap((group) => group.components);
    const nameOf = new Map(components.map(({ monitorId, name }) => [monitorId, name]));
    const updates = incident.updates.filter(({ id }) => id > notice.lastUpdateId).toReversed();
    const news = {
      id: `obs-notice-${notice.id}-${told.lastUpdateId}-${told.status}`,
      ...{ organizationId, subscriber, shown },
      incident: shownIncident({ ...incident, updates }, nameOf),
    };
    return { news, ...told };
  }
}

function isNews({ lastUpdateId, lastStatus }: TakenNotice, { status, updates }: PublicIncident): boolean {
  return status !== lastStatus || (updates[0]?.id ?? 0) > lastUpdateId;
}
