import { type ReachTest, reachOf } from "../../../query/index.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { predicateOf, type ReachedCounter } from "../counters/counter-plan.ts";
import type { Counter } from "../counters/counter-store.ts";
import type { OrganizationEntries, SealedRange } from "./finder.ts";
import { FEW_COUNTERS, REACH_MAX_PATTERNS, REACH_MAX_TEXTS, REACHES_KEPT_MAX } from "./limits.ts";
import { contentsOf, type Had, TOLD_COLUMNS, type Wanted } from "./range-contents.ts";

type Reach = ReachedCounter["tests"];

/** What is wanted of one text of entries. */
interface WantedText {
  readonly of: Wanted["of"];
  readonly literals: Set<string>;
  readonly texts: Set<string>;
}

/**
 * Finds the counters that may count anything in a range, without a look at what each of them counts: of a thousand rules, most have
 * nothing in two seconds of entries. What is left out counts nothing; what is left in may count nothing all the same.
 */
export class ReachedCounters {
  readonly #endpoint: ClickHouseEndpoint;
  readonly #few: number;
  /** By counter; what one counts never changes. */
  readonly #reaches = new Map<number, Reach>();

  /** So `few` counters are not worth a pass over the entries. */
  constructor(endpoint: ClickHouseEndpoint, few = FEW_COUNTERS) {
    this.#endpoint = endpoint;
    this.#few = few;
  }

  /** Throws DependencyError when the store cannot be asked, or will not say. */
  async find(
    counters: readonly Counter[],
    range: SealedRange,
    signal: AbortSignal,
  ): Promise<readonly ReachedCounter[]> {
    // Where an attribute that one asks for is nowhere in the range, the test fails without a look.
    const left = counters.flatMap((counter): ReachedCounter[] => {
      const reach = this.#reachOf(counter);
      const tests = reach?.filter((test) =>
        isPossible(test, range.organizations.get(counter.organizationId)),
      );
      return tests?.length === 0 ? [] : [{ counter, tests: tests ?? null }];
    });
    const wanted = wantedBy(left.flatMap(({ tests }) => tests ?? []));
    if (wanted.size === 0 || left.length <= this.#few) return left;
    const lists = [...wanted.values()].map(({ of, ...each }) => ({
      ...{ of, literals: [...each.literals].toSorted(), texts: [...each.texts].toSorted() },
    }));
    const contents = await contentsOf(this.#endpoint, range.span, lists, signal);
    const places = new Map([...wanted.keys()].map((name, i) => [name, i]));
    return left.flatMap(({ counter, tests }) => {
      const own = contents.get(counter.organizationId);
      if (tests === null || own === undefined) return [{ counter, tests }];
      const held = tests.filter((test) => mayHold(test, own[places.get(nameOf(test)) ?? -1]));
      return held.length === 0 ? [] : [{ counter, tests: held }];
    });
  }

  #reachOf(counter: Counter): Reach {
    const known = this.#reaches.get(counter.id);
    if (known !== undefined) return known;
    if (this.#reaches.size >= REACHES_KEPT_MAX) this.#reaches.clear();
    const reach = reachOf([predicateOf(counter)]);
    this.#reaches.set(counter.id, reach);
    return reach;
  }
}

/** Whether entries have the attribute that a test looks at. */
function isPossible(test: ReachTest, entries: OrganizationEntries | undefined): boolean {
  const of = textOf(test);
  const keys = entries?.attributeKeys ?? null;
  return !("attribute" in of) || keys === null || keys.has(of.attribute);
}

/** What has to be known for the tests, by the text that it is about; what is too much, nothing is known of. */
function wantedBy(tests: readonly ReachTest[]): Map<string, WantedText> {
  const wanted = new Map<string, WantedText>();
  for (const test of tests) {
    const of = textOf(test);
    if (test.kind === "there" || ("column" in of && !TOLD_COLUMNS.has(of.column))) continue;
    const name = nameOf(test);
    const known = wanted.get(name) ?? { of, literals: new Set(), texts: new Set() };
    if (test.kind === "holds") known.literals.add(test.literal);
    else for (const text of test.texts) known.texts.add(text);
    wanted.set(name, known);
  }
  const few = [...wanted].filter(
    ([, { literals, texts }]) => literals.size + texts.size <= REACH_MAX_PATTERNS,
  );
  return new Map(few.slice(0, REACH_MAX_TEXTS));
}

/** Whether a test can hold of one of the entries that have this; true where it is not known. */
function mayHold(test: ReachTest, had: Had | undefined): boolean {
  if (test.kind === "there" || had === undefined) return true;
  if (test.kind === "holds") return had.literals.has(test.literal);
  return test.texts.some((text) => had.texts.has(text));
}

/** What a test looks at. */
function textOf(test: ReachTest): Wanted["of"] {
  if (test.kind === "there") return { attribute: test.key };
  const { subject } = test;
  return subject.kind === "column" ? { column: subject.name } : { attribute: subject.key };
}

function nameOf(test: ReachTest): string {
  return JSON.stringify(textOf(test));
}
