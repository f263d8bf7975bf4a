import type { Sql } from "postgres";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { ApiError, DependencyError } from "../../errors.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { storableText } from "../../storage/storable-text.ts";
import { sealedEverywhere } from "../streams/stream-store.ts";
import {
  ERROR_MAX_CHARS,
  EVALUATE_EVERY_MS,
  EVALUATE_STOP_MS,
  RETRY_MAX_MS,
  RETRY_MS,
  ROUND_MAX_RULES,
} from "./limits.ts";
import {
  beginEvaluated,
  dueRules,
  type LiveRule,
  noteFailure,
  type RuleKind,
  readChanges,
  readGroups,
  readRule,
  type StoredRule,
} from "./live-store.ts";
import type { RuleFinder } from "./rule-finder.ts";
import { settle } from "./settle.ts";

interface RuleEvaluationOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly finders: Readonly<Record<RuleKind, RuleFinder>>;
  readonly log: Logger;
}

/**
 * Evaluates live rules where something came or a time is over. What was found and what follows of it, episodes, states and
 * what is told, is one transaction, which is given up when another instance was quicker: so several may evaluate, and none
 * loses or doubles anything. No clock decides what happened: times are those of entries, as far as everything is sealed.
 */
export class RuleEvaluation extends BackgroundWork {
  readonly #options: RuleEvaluationOptions;
  #after = 0;

  constructor(options: RuleEvaluationOptions) {
    super({
      pollMs: EVALUATE_EVERY_MS,
      failure: "rules could not be evaluated; they will be",
      stopMs: EVALUATE_STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  /** Evaluates the rules that come next; true when there are more. */
  async workOnce(signal: AbortSignal): Promise<boolean> {
    const { sql } = this.#options;
    const throughMs = await askPostgres(() => sealedEverywhere(sql));
    const rules = await askPostgres(() =>
      dueRules(sql, { throughMs, after: this.#after, max: ROUND_MAX_RULES }),
    );
    for (const rule of rules) {
      if (signal.aborted) return false;
      await this.#evaluate(rule, throughMs ?? 0, signal);
    }
    this.#after = rules.length === ROUND_MAX_RULES ? (rules.at(-1)?.id ?? 0) : 0;
    return rules.length === ROUND_MAX_RULES;
  }

  /** One that fails keeps no other from being evaluated, but where a store is away, which is nobody's fault. */
  async #evaluate(rule: StoredRule, throughMs: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#judge(readRule(rule), throughMs, signal);
    } catch (error) {
      if (signal.aborted || error instanceof DependencyError) throw error;
      const { sql, log } = this.#options;
      const failures = rule.failures + 1;
      const delayMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** rule.failures);
      log.warn(
        { err: error, ruleId: rule.ruleId, kind: rule.kind, failures },
        "a rule could not be evaluated",
      );
      const said =
        error instanceof ApiError ? error.message : "An unexpected error; the server's log has it.";
      const text = storableText(said.slice(0, ERROR_MAX_CHARS));
      await askPostgres(() => noteFailure(sql, rule, { failures, delayMs, error: text }));
    }
  }

  async #judge(rule: LiveRule, throughMs: number, signal: AbortSignal): Promise<void> {
    const { sql, changes, finders } = this.#options;
    const [changed, kept] = await askPostgres(() =>
      Promise.all([readChanges(sql, rule.counterIds), readGroups(sql, rule.id)]),
    );
    const at = { spans: changed.spans, kept, throughMs };
    const findings = await finders[rule.kind].find(rule, at, signal);
    if (findings === null) return;
    const { groups, note } = findings;
    const { organizationId, ruleId, definition } = rule;
    const cause = {
      organizationId,
      actor: { kind: "rule", id: ruleId, name: definition.name },
      origin: SERVER_ORIGIN,
    } as const;
    await changes.inChange(cause, null, async (change) => {
      if (!(await beginEvaluated(change.tx, rule, changed.last, { nowMs: change.nowMs, note }))) return;
      await settle(change, rule, groups, kept, throughMs);
    });
  }
}
