import { bucketMsOf } from "../evaluation/bucket-sums.ts";
import type { RuleDefinition } from "./definition.ts";
import { type CountsSource, findThreshold } from "./find-stretches.ts";
import type { GroupFinding, Moment } from "./rule-finder.ts";

type Holds = NonNullable<GroupFinding["holds"]>;

/**
 * Where an incident goes on that is open or opens now: where the count is not below that of recovery yet. By the names of groups; none
 * where a rule recovers where it fires.
 */
export async function findHolds(
  { condition, windowMs }: RuleDefinition,
  found: ReadonlyMap<string, GroupFinding>,
  { kept, throughMs }: Moment,
  source: CountsSource,
): Promise<ReadonlyMap<string, Holds>> {
  const recover = condition.kind === "threshold" ? (condition.recoverThreshold ?? null) : null;
  if (recover === null) return new Map();
  const begun = new Map(
    [...found].flatMap(([group, { stretches }]) => {
      const first = Math.min(...stretches.map(({ fromMs }) => fromMs));
      return stretches.length === 0 ? [] : [[group, first] as const];
    }),
  );
  for (const [group, { state }] of kept)
    if (state?.incident)
      begun.set(group, Math.min(begun.get(group) ?? state.incident.untilMs, state.incident.untilMs));
  if (begun.size === 0) return new Map();
  const bucketMs = bucketMsOf(windowMs);
  const points = {
    fromMs: Math.floor((Math.min(...begun.values()) - windowMs) / bucketMs) * bucketMs,
    toMs: Math.ceil((throughMs + windowMs) / bucketMs) * bucketMs,
  };
  const { groups } = await findThreshold({ windowMs, threshold: recover }, [points], source);
  return new Map(
    [...groups].flatMap(([group, stretches]) =>
      begun.has(group)
        ? [[group, stretches.map(({ fromMs, untilMs }) => ({ fromMs, untilMs }))] as const]
        : [],
    ),
  );
}
