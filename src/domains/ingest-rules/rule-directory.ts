import type { Sql } from "postgres";
import { EntryRules, IngestUnavailableError, RawMasker } from "../../../ingest/index.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { compileRules, readStoredRule } from "./compile-rule.ts";
import { ORGANIZATIONS_MAX, RULES_LIFE_MS, RULES_REFRESH_MS, RULES_TIMEOUT_MS } from "./limits.ts";
import type { RuleCounter } from "./rule-counts.ts";
import type { IngestRuleMetrics } from "./rule-metrics.ts";
import { listRules } from "./rules.ts";
import type { IngestRule } from "./types.ts";

/** The rules of an organisation as this instance uses them. */
interface OrganizationRules {
  readonly entries: EntryRules;
  /** For what could not be read as entries; null without masks. */
  readonly raw: RawMasker | null;
}

interface KnownRules {
  readonly rules: OrganizationRules | null;
  /** Of the rules, to know them again without compiling. */
  readonly text: string;
  /** When Postgres was asked, which is before it answered. */
  readonly askedAtMs: number;
}

interface RuleDirectoryOptions {
  readonly sql: Sql;
  readonly counter: Pick<RuleCounter, "add">;
  readonly metrics: IngestRuleMetrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * The rules of organisations, compiled. What is known of them is trusted for a second, in whose second half Postgres is asked
 * beside the requests: a change takes effect on every instance within a second, and at once on the one that made it. While
 * Postgres does not answer, the rules known last are used; where none are known since the last change, nothing is taken in.
 */
export class RuleDirectory {
  readonly #options: RuleDirectoryOptions;
  /** Those asked for longest ago first. */
  readonly #known = new Map<number, KnownRules>();
  readonly #flights = new Map<number, Promise<OrganizationRules | null>>();

  constructor(options: RuleDirectoryOptions) {
    this.#options = options;
  }

  /** Null without rules. Rejects with IngestUnavailableError when nobody can tell. */
  entryRulesOf(organizationId: number): EntryRules | null | Promise<EntryRules | null> {
    const known = this.#present(organizationId);
    if (known !== null) return known.rules?.entries ?? null;
    return this.#ask(organizationId).then((rules) => rules?.entries ?? null);
  }

  /** What masks records that could not be read; null without masks. Rejects with IngestUnavailableError. */
  async rawMaskerOf(organizationId: number): Promise<RawMasker | null> {
    const known = this.#present(organizationId);
    const rules = known === null ? await this.#ask(organizationId) : known.rules;
    return rules?.raw ?? null;
  }

  /** Makes this instance ask anew; until it is answered, nothing is known. */
  forget(organizationId: number): void {
    this.#known.delete(organizationId);
    this.#flights.delete(organizationId);
  }

  /** Null when what is known is too old. */
  #present(organizationId: number): KnownRules | null {
    const known = this.#known.get(organizationId);
    if (known === undefined) return null;
    const ageMs = this.#options.now() - known.askedAtMs;
    if (ageMs < 0 || ageMs >= RULES_LIFE_MS) return null;
    if (ageMs >= RULES_REFRESH_MS) void this.#ask(organizationId).catch(() => undefined);
    return known;
  }

  /** What Postgres says, else what was known last. */
  async #ask(organizationId: number): Promise<OrganizationRules | null> {
    const { metrics, now, log } = this.#options;
    try {
      return await this.#fly(organizationId);
    } catch (error) {
      const known = this.#known.get(organizationId);
      if (known === undefined) {
        metrics.unread.inc({ outcome: "refused" });
        throw new IngestUnavailableError("rules_unknown", "the rules for entries cannot be looked up", {
          cause: error,
        });
      }
      metrics.unread.inc({ outcome: "last_known" });
      log.warn({ err: error, organizationId }, "rules could not be looked up; those known last are used");
      // Trusted for a moment, so that not every request waits in vain.
      this.#known.set(organizationId, { ...known, askedAtMs: now() });
      return known.rules;
    }
  }

  /** One look-up for all who ask meanwhile. */
  #fly(organizationId: number): Promise<OrganizationRules | null> {
    const underWay = this.#flights.get(organizationId);
    if (underWay !== undefined) return underWay;
    const flight: Promise<OrganizationRules | null> = this.#look(organizationId).then(
      (found) => {
        // Otherwise the rules have changed since, and the answer may be out of date.
        if (this.#land(organizationId, flight)) this.#remember(organizationId, found);
        return found.rules;
      },
      (error: unknown) => {
        this.#land(organizationId, flight);
        throw error;
      },
    );
    this.#flights.set(organizationId, flight);
    return flight;
  }

  #land(organizationId: number, flight: Promise<OrganizationRules | null>): boolean {
    return this.#flights.get(organizationId) === flight && this.#flights.delete(organizationId);
  }

  async #look(organizationId: number): Promise<KnownRules> {
    const { sql, now } = this.#options;
    const askedAtMs = now();
    const rules = await askPostgres(() => listRules(sql, organizationId), RULES_TIMEOUT_MS);
    const enabled = rules.filter(({ enabled }) => enabled);
    const text = JSON.stringify(enabled);
    const known = this.#known.get(organizationId);
    return {
      rules: known?.text === text ? known.rules : this.#compile(organizationId, enabled),
      text,
      askedAtMs,
    };
  }

  #remember(organizationId: number, found: KnownRules): void {
    this.#known.delete(organizationId);
    this.#known.set(organizationId, found);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= ORGANIZATIONS_MAX) break;
      this.#known.delete(oldest);
    }
  }

  #compile(organizationId: number, rules: readonly IngestRule[]): OrganizationRules | null {
    if (rules.length === 0) return null;
    const { counter, log } = this.#options;
    const read = rules.map(readStoredRule);
    for (const [i, { predicate }] of read.entries())
      if (predicate === "undecidable")
        log.warn(
          { organizationId, ruleId: rules[i]?.id },
          "the predicate of a rule is not understood: it masks every entry, and drops none",
        );
    const masks = read.flatMap(({ action }) => (action.kind === "mask" ? [action] : []));
    return {
      entries: new EntryRules({
        ...compileRules(read),
        random: Math.random,
        applied: (outcomes) => {
          for (const { rule, dropped, masked } of outcomes) {
            const ruleId = rules[rule]?.id;
            if (ruleId !== undefined) counter.add({ organizationId, ruleId, dropped, masked });
          }
        },
      }),
      raw: masks.length === 0 ? null : new RawMasker(masks),
    };
  }
}
