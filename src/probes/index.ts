/** What a probe in another region is made of: the thread that makes checks, and the clock its slots go by. */
export { CheckThread } from "./schedule/check-thread.ts";
export { CHECK_PROGRAM, type CheckSettings } from "./schedule/messages.ts";
export type { Assignment, SlotResult } from "./schedule/schedule.ts";
export { monotonicMs, SlotClock } from "./schedule/slot-clock.ts";
