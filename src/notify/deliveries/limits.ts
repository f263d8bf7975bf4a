import type { ChannelName } from "../channels/target.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** One attempt, from resolving the name to the last byte of the answer. */
export const ATTEMPT_TIMEOUT_MS = 10 * SECOND_MS;
/** For how long a delivery is a sender's that is not heard of: an attempt, and what is asked of Postgres before and after it. */
export const LEASE_MS = 40 * SECOND_MS;
/** Senders that may die in a row with one delivery: it is none of theirs when this many did, and the next one is not to die, too. */
export const DEATHS_MAX = 5;
/** What is read of an answer: nobody looks at it. */
export const ANSWER_MAX_BYTES = 64 * 1024;
/** While nobody wakes the sender, for what other instances have written. */
export const POLL_MS = SECOND_MS;

/** After a delivery ended, until its room is given to another: many end in this time when much is sent. */
export const ROOM_WAIT_MS = 5;

/** Deliveries under way at a time: in all, of one organisation, and to one place. */
export const IN_FLIGHT_MAX = 128;
export const IN_FLIGHT_PER_ORGANIZATION_MAX = 64;
export const IN_FLIGHT_PER_LANE_MAX = 4;

/** A pause is up to this much shorter or longer, so that what failed together does not come back together. */
export const JITTER = 0.2;
/** As long as a receiver may ask to be left alone. */
export const RETRY_AFTER_MAX_MS = 12 * HOUR_MS;

const LONG = [
  5_000,
  15_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];
const AN_HOUR = [5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 35 * MINUTE_MS];
const AT_ONCE = [30_000, 2 * MINUTE_MS];

/** The pauses before further attempts. Programs are told for a day, people as long as they want to hear it. */
export const PAUSES_MS: Readonly<Record<ChannelName, readonly number[]>> = {
  webhook: LONG,
  pagingA: LONG,
  pagingB: LONG,
  template: LONG,
  email: AN_HOUR,
  chatA: AN_HOUR,
  chatB: AN_HOUR,
  chatC: AN_HOUR,
  chatD: AN_HOUR,
  sms: AT_ONCE,
  voice: AT_ONCE,
};

/** Messages that one receiver gets in a time, beyond which several are told in one; null is any number. */
interface Rate {
  readonly messages: number;
  readonly perMs: number;
}
const CHAT: Rate = { messages: 20, perMs: MINUTE_MS };
export const RATES: Readonly<Record<ChannelName, Rate | null>> = {
  webhook: null,
  pagingA: null,
  pagingB: null,
  template: CHAT,
  email: { messages: 10, perMs: MINUTE_MS },
  chatA: CHAT,
  chatB: CHAT,
  chatC: CHAT,
  chatD: CHAT,
  sms: { messages: 5, perMs: 10 * MINUTE_MS },
  voice: { messages: 3, perMs: 10 * MINUTE_MS },
};
/** How often the receiver of a delivery may be told; any number where somebody is woken. */
export function rateOf(delivery: { readonly channel: ChannelName; readonly priority: number }): Rate | null {
  return delivery.priority === 0 ? null : RATES[delivery.channel];
}
/** At most one message of several for a receiver in this time. */
export const DIGEST_EVERY_MS = MINUTE_MS;
/** What one such message gathers; what is beyond it comes with the next. */
export const DIGEST_MAX = 500;
/** Titles that it names. */
export const DIGEST_TITLES_MAX = 10;

/** How long a delivery is shown. */
export const KEPT_MS = 90 * 24 * HOUR_MS;
/** Deliveries counted for the metrics. */
export const COUNTED_MAX = 10_000;
/** What waits longer is an outage. */
export const WAITING_TOO_LONG_MS = 5 * MINUTE_MS;
