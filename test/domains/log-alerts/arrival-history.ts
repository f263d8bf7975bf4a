/** Histories of servers that take entries, seal, evaluate and die, in any order; what rules find of them is compared with an oracle. */
import fc from "fast-check";
import { type AlertServer, NEVER, type Told } from "./alert-server.ts";
import type { Death } from "./test-stream.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const SERVICES = ["pay", "shop"];
export const STREAMS = 3;
/** Entries of the time that the others know lie within so long of when the rule was made. */
export const RANGE_MS = 12 * MINUTE_MS;

/** Of an entry: the time that the others know, a day and more before it came, or the far future. */
type Times = "near" | "1970" | "import" | "2090";

type Step =
  /** Entries come to a server, so many milliseconds after the rule was made by their own time. */
  | {
      readonly kind: "store";
      readonly stream: number;
      readonly entries: readonly {
        readonly service: number;
        readonly afterMs: number;
        readonly times: Times;
      }[];
    }
  | { readonly kind: "seal"; readonly stream: number }
  /** A server dies of sealing and starts again. */
  | { readonly kind: "die"; readonly stream: number; readonly of: Death }
  | { readonly kind: "evaluate"; readonly instances: number }
  | { readonly kind: "pass"; readonly seconds: number };

const entry = fc.record({
  service: fc.nat(SERVICES.length - 1),
  // Often at the edges of buckets, and at the same time as others.
  afterMs: fc.oneof(
    fc.integer({ min: 0, max: RANGE_MS }),
    fc.nat(RANGE_MS / (10 * SECOND_MS)).map((bucket) => bucket * 10 * SECOND_MS),
    fc.nat(40).map((second) => second * SECOND_MS),
  ),
  times: fc.oneof<fc.MaybeWeightedArbitrary<Times>[]>(
    { weight: 20, arbitrary: fc.constant("near") },
    { weight: 1, arbitrary: fc.constantFrom("1970", "import", "2090") },
  ),
});
const stream = fc.nat(STREAMS - 1);
export const steps = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant<"store">("store"),
        stream,
        entries: fc.array(entry, { minLength: 1, maxLength: 8 }),
      }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant<"seal">("seal"), stream }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant<"die">("die"),
        stream,
        of: fc.constantFrom<Death>("counting", "inserted"),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant<"evaluate">("evaluate"),
        instances: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant<"pass">("pass"), seconds: fc.integer({ min: 1, max: 150 }) }),
    },
  ),
  { minLength: 4, maxLength: 24 },
);

function timeOf(times: Times, nearMs: number, nowMs: number): number {
  if (times === "1970") return 0;
  if (times === "2090") return Date.UTC(2090, 0);
  return times === "import" ? nowMs - DAY_MS - MINUTE_MS : nearMs;
}

/** An entry as alerts count it. */
export interface Came {
  readonly service: string;
  readonly atMs: number;
  readonly times: Times;
}

/**
 * Plays a history and answers what came that alerts count, by their clock: what claims to be from the future when it came, and what was
 * old nowhere. With `isLate` false nothing has a time from before it came.
 */
export async function play(
  server: AlertServer,
  organizationId: number,
  history: readonly Step[],
  { sinceMs, isLate }: { readonly sinceMs: number; readonly isLate: boolean },
): Promise<Came[]> {
  const came: Came[] = [];
  for (const step of history) {
    if (step.kind === "store") {
      const near = step.entries.filter(({ times }) => times === "near");
      // Nothing near is from further in the future than clocks differ.
      server.clock.nowMs = Math.max(
        server.clock.nowMs,
        ...near.map(({ afterMs }) => sinceMs + afterMs - 4 * MINUTE_MS),
      );
      const { nowMs } = server.clock;
      const entries = step.entries.map(({ service, afterMs, times }) => {
        const nearMs = isLate ? sinceMs + afterMs : Math.max(nowMs, sinceMs + afterMs);
        return { service: SERVICES[service] ?? "", atMs: timeOf(times, nearMs, nowMs), times };
      });
      for (const { service, atMs, times } of entries) {
        if (times === "near") came.push({ service, atMs, times });
        else if (times === "2090") came.push({ service, atMs: nowMs, times });
      }
      await server.streamAt(step.stream).store(
        organizationId,
        entries.map(({ times: _, ...each }) => ({ ...each, message: "failed" })),
      );
    } else if (step.kind === "seal") await server.streamAt(step.stream).seal();
    else if (step.kind === "die") await server.streamAt(step.stream).die(step.of);
    else if (step.kind === "evaluate")
      await Promise.all(Array.from({ length: step.instances }, () => server.evaluation().workOnce(NEVER)));
    else server.clock.nowMs += step.seconds * SECOND_MS;
  }
  return came;
}

/** What is recorded of an organisation's rule in the end. */
interface Recorded {
  readonly group: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly untilMs: number;
  readonly peak: number;
  readonly isReported: boolean;
}

export async function recordedOf(server: AlertServer, organizationId: number): Promise<Recorded[]> {
  const found = await server.sql<Recorded[]>`
    SELECT group_key AS group, peak, is_reported AS "isReported",
      (extract(epoch FROM started_at) * 1000)::double precision AS "fromMs",
      (extract(epoch FROM ended_at) * 1000)::double precision AS "toMs",
      (extract(epoch FROM until_at) * 1000)::double precision AS "untilMs"
    FROM detections WHERE organization_id = ${organizationId} AND merged_into IS NULL`;
  return [...found];
}

export function inOrder<E extends { group: string; fromMs: number }>(all: readonly E[]): E[] {
  return all.toSorted((one, other) => one.group.localeCompare(other.group) || one.fromMs - other.fromMs);
}

/** Of each incident what was told is by turns that it is open and that it is over; in the end all are over. */
export function isToldInTurn(told: readonly Told[]): boolean {
  return [...Map.groupBy(told, ({ key }) => key).values()].every(
    (own) =>
      own.length % 2 === 0 && own.every(({ kind }, i) => kind === (i % 2 === 0 ? "raised" : "cleared")),
  );
}
