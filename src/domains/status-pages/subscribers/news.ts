import type { ShownPage } from "../published-pages.ts";
import type { PublicPage } from "../types.ts";
import type { NoticeSubscriber } from "./notice-store.ts";

/** What a subscriber has not been told yet. */
export interface News {
  /** The same whenever this is sent again, so that a receiver that gets it twice can tell. */
  readonly id: string;
  readonly organizationId: number;
  readonly subscriber: NoticeSubscriber;
  readonly shown: ShownPage;
  /** In public words; of its updates those that are new, oldest first. */
  readonly incident: PublicPage["incidents"][number];
}

/** How subscribers of one kind are told. */
export interface NoticeWay {
  readonly channel: "mail" | "webhook";
  /** Throws SubscriberRefused where trying again is of no use. */
  readonly send: (news: News, signal: AbortSignal) => Promise<void>;
}

/** The receiver does not take it, now or ever. */
export class SubscriberRefused extends Error {
  /** Whether it is to be told nothing any more. */
  readonly isForever: boolean;

  constructor(message: string, isForever: boolean, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "SubscriberRefused";
    this.isForever = isForever;
  }
}
