import type { Sql } from "postgres";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { ApiError, DependencyError } from "../../errors.ts";
import { BackgroundWork } from "../../jobs/background-work.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { storableText } from "../../storage/storable-text.ts";
import type { SignalTable } from "../seal/signal-store.ts";
import { sealedEverywhere } from "../streams/stream-store.ts";
import { type DueRule, dueRules, noteLooked } from "./due-rules.ts";
import {
  ERROR_MAX_CHARS,
  EVALUATE_EVERY_MS,
  EVALUATE_STOP_MS,
  RETRY_MAX_MS,
  RETRY_MS,
  ROUND_MAX_RULES,
  TOGETHER_MAX_GROUPS,
} from "./limits.ts";
import { beginEvaluated, noteFailure, type RuleKind, readGroups, readRule } from "./live-store.ts";
import { type KnownRule, quietRules } from "./quiet-rules.ts";
import type { RuleFinder } from "./rule-finder.ts";
import { settle } from "./settle.ts";

interface RuleEvaluationOptions {
  readonly sql: Sql;
  readonly signals: SignalTable;
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
    const { sql, signals } = this.#options;
    const throughMs = await askPostgres(() => sealedEverywhere(sql));
    const due = await askPostgres(() =>
      dueRules(sql, { throughMs, after: this.#after, max: ROUND_MAX_RULES }),
    );
    const known: KnownRule[] = [];
    for (const rule of due) {
      const read = await this.#bear(rule, signal, async () => readRule(rule));
      if (read !== null) known.push({ ...rule, ...read });
    }
    const quiet = await quietRules(signals, known, signal);
    await this.#noteLooked(quiet);
    const isQuiet = new Set(quiet);
    for (const rule of known) {
      if (signal.aborted) return false;
      if (isQuiet.has(rule)) continue;
      await this.#bear(rule, signal, () => this.#judge(rule, throughMs ?? 0, signal));
    }
    this.#after = due.length === ROUND_MAX_RULES ? (due.at(-1)?.id ?? 0) : 0;
    return due.length === ROUND_MAX_RULES;
  }

  /** One that fails keeps no other from being evaluated, but where a store is away, which is nobody's fault; null where it failed. */
  async #bear<T>(rule: DueRule, signal: AbortSignal, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
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
      return null;
    }
  }

  async #judge(rule: KnownRule, throughMs: number, signal: AbortSignal): Promise<void> {
    const { sql, changes, finders } = this.#options;
    const kept = await askPostgres(() => readGroups(sql, rule.id));
    const findings = await finders[rule.kind].find(rule, { spans: rule.spans, kept, throughMs }, signal);
    if (findings === null) return;
    const { groups, note, noteForMs } = findings;
    const { organizationId, ruleId, definition, failures, hasNote } = rule;
    const isAsBefore = failures === 0 && !hasNote && note === null;
    if (groups.size === 0 && kept.size === 0 && isAsBefore) {
      await this.#noteLooked([rule]);
      return;
    }
    const cause = {
      organizationId,
      actor: { kind: "rule", id: ruleId, name: definition.name },
      origin: SERVER_ORIGIN,
    } as const;
    // Groups have nothing to do with each other. What came is looked at when the last of them is written, so that none is left out.
    const names = [...new Set([...groups.keys(), ...kept.keys()])];
    for (let from = 0; from === 0 || from < names.length; from += TOGETHER_MAX_GROUPS) {
      if (signal.aborted) return;
      const own = new Set(names.slice(from, from + TOGETHER_MAX_GROUPS));
      const isLast = from + TOGETHER_MAX_GROUPS >= names.length;
      const version = String(BigInt(rule.version) + BigInt(from / TOGETHER_MAX_GROUPS));
      const isNext = await changes.inChange(cause, null, async (change) => {
        const looked = {
          nowMs: change.nowMs,
          throughMs,
          note,
          ...(noteForMs !== undefined && { noteForMs }),
        };
        const isOurs = await beginEvaluated(
          change.tx,
          { ...rule, version },
          isLast ? rule.last : "0",
          looked,
        );
        if (isOurs) await settle(change, rule, only(groups, own), only(kept, own), throughMs);
        return isOurs;
      });
      if (!isNext) return;
    }
  }

  /** Of rules of which nothing follows from what came. */
  async #noteLooked(rules: readonly DueRule[]): Promise<void> {
    const { sql, changes } = this.#options;
    if (rules.length > 0) await askPostgres(() => noteLooked(sql, rules, changes.now()));
  }
}

function only<V>(all: ReadonlyMap<string, V>, names: ReadonlySet<string>): ReadonlyMap<string, V> {
  return new Map([...all].filter(([name]) => names.has(name)));
}
