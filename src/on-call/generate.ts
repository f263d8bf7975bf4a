/** How turns go round. */
interface Turns {
  /** In the order in which they take their turns. */
  readonly userIds: readonly number[];
  readonly everyDays: number;
  /** `HH:MM` in the zone. */
  readonly handoff: string;
  /** As the tz database names it. */
  readonly timezone: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
}

/** One person's turn, half-open, in milliseconds since 1970. */
interface Turn {
  readonly userId: number;
  readonly startsAt: number;
  readonly endsAt: number;
}

/**
 * The turns of people who take over from each other every so many days at the same time of the day by the clocks of a zone.
 * The first begins at `from`, the last ends at `until`, and the end of each is the start of the next: where clocks are put
 * forward or back a turn is shorter or longer, and where the handoff does not exist it is as much later as the clocks jump.
 * Stops after `max` turns.
 */
export function turnsOf({ userIds, everyDays, handoff, timezone, from, until }: Turns, max: number): Turn[] {
  const firstDay = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).toPlainDate();
  const time = Temporal.PlainTime.from(handoff);
  const turns: Turn[] = [];
  let startsAt = from;
  for (let days = everyDays; startsAt < until && turns.length < max; days += everyDays) {
    const day = firstDay.add({ days });
    const handedOver = day.toZonedDateTime({ timeZone: timezone, plainTime: time }).epochMilliseconds;
    // A day that a zone has left out, as by moving across the date line, is the same moment as the next one.
    if (handedOver <= startsAt) continue;
    const endsAt = Math.min(handedOver, until);
    turns.push({ userId: userIds[turns.length % userIds.length] ?? 0, startsAt, endsAt });
    startsAt = endsAt;
  }
  return turns;
}

/** Whether the clocks of a zone are known; offsets such as `+02:00` are no zones, for they have no summer time. */
export function isTimezone(text: string): boolean {
  if (/^[+-]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
