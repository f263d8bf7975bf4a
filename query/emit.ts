import { Parameters } from "./emit/parameters.ts";
import { PlanSplitter } from "./emit/split-plan.ts";
import { StatementWriter } from "./emit/statement.ts";
import { type WireFormat, wireFormatOf } from "./emit/wire-format.ts";
import { GuardedPlan } from "./guard.ts";
import { WORD_SETTINGS } from "./message-words.ts";
import type { ScalarType } from "./scalar-type.ts";
import { type QuerySettings, settingsFor } from "./settings.ts";

export interface CompiledColumn {
  readonly name: string;
  readonly type: ScalarType;
  readonly wireFormat: WireFormat;
}

/** A statement for ClickHouse: data only. */
export interface CompiledQuery {
  /** One SELECT without FORMAT. No value stands in it, and no name that did not come from our own tables. */
  readonly sql: string;
  /** The values of `{p0:String}` and so on, by name and as text. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What the columns of the answer are, by position: in ClickHouse they have other names. */
  readonly columns: readonly CompiledColumn[];
  readonly settings: QuerySettings;
  /** The keys of attributes that are looked for. */
  readonly attributes: readonly string[];
  /** The limit of time among the settings: who waits longer for an answer waits in vain. */
  readonly maxExecutionMs: number;
}

/** The SQL of a guarded plan. Throws only for plans that could not have been built. */
export function emit(plan: GuardedPlan): CompiledQuery {
  GuardedPlan.assertGuarded(plan);
  const parameters = new Parameters();
  const splitter = new PlanSplitter();
  const block = splitter.split(plan.relation);
  const writer = new StatementWriter(parameters, splitter);
  const sql = writer.writeOutermost(block);
  const columns = [...block.bindings].map(([name, binding]) => ({
    name,
    type: binding.type,
    wireFormat: wireFormatOf(binding),
  }));
  const { budget, maxRows, files, archived } = plan.scope;
  return {
    sql,
    parameters: parameters.finish(),
    columns,
    attributes: [...writer.attributes],
    settings: {
      ...settingsFor(budget, maxRows, (files ?? archived) === undefined ? "table" : "files"),
      ...(writer.readsWords && WORD_SETTINGS),
    },
    maxExecutionMs: budget.maxExecutionMs,
  };
}
