/** The bounds of the scheduler of checks; each says why it has its value. */

/** Checks of one process at a time: sockets, and what a burst of slow targets may hold in memory. */
export const CHECKS_MAX_IN_FLIGHT = 512;
/** Results go to the other thread together: a message each would cost more than what is in it. */
export const RESULTS_GATHERED_MS = 20;
/** A clock of slots that differs by more is set forward at once; by less it is drawn towards the other one. */
export const CLOCK_STEP_MS = 1_000;
/** What the clock of slots may gain or lose on its way back to the other one. */
export const CLOCK_SLEW_MAX = 0.1;
/** How long a small difference takes to go. */
export const CLOCK_SLEW_MS = 20_000;
/** For how long it is believed what canaries said: many checks fail at once when a line is cut. */
export const UPLINK_BELIEVED_MS = 3_000;
/** A canary that is slower than that is away. */
export const CANARY_TIMEOUT_MS = 3_000;
/** The longest that a timer may be set for. */
export const TIMER_MAX_MS = 60_000;
/** The pause before a thread that died is begun anew; it doubles with every further one. */
export const THREAD_BACKOFF = { baseMs: 200, maxMs: 30_000 };
/** A thread that lived for so long has not died of its beginning. */
export const THREAD_SETTLED_MS = 60_000;
