import type { ChangedTexts } from "./append-entries.ts";
import type { EntryColumns } from "./entry-columns.ts";
import { type EntryTexts, entryTexts } from "./masking/entry-texts.ts";
import type { FoundRows } from "./masking/findings.ts";
import { EntryMasker, type Mask } from "./masking/mask.ts";
import { MaskableRows } from "./masking/maskable-rows.ts";
import { MaskedTexts } from "./masking/masked-texts.ts";

/** What becomes of the entries that a rule is for. */
export type EntryAction =
  | { readonly kind: "drop" }
  /** One in so many is kept, by chance. */
  | { readonly kind: "sample"; readonly keepOneIn: number }
  | ({ readonly kind: "mask" } & Mask);

/** Which entries a rule is for. */
export interface RowTest {
  /** All that it may be for, in ascending order; null where that may be any. */
  readonly candidates: readonly number[] | null;
  readonly isFor: (row: number) => boolean;
}

/** A rule of an organisation for entries that are about to be stored. */
export interface EntryRule {
  readonly action: EntryAction;
  /**
   * Says which of some entries it is for, as they were received. `termPlaces` has for each of the rules' terms where it begins in
   * the messages; null where nobody has looked for them yet.
   */
  readonly rowsOf: (entries: EntryColumns, termPlaces: FoundRows["termPlaces"]) => RowTest;
}

/** What a rule did to the entries of a request. */
interface RuleOutcome {
  /** Place of the rule among the others. */
  readonly rule: number;
  readonly dropped: number;
  readonly masked: number;
}

export interface EntryRulesOptions {
  /** In their order. */
  readonly rules: readonly EntryRule[];
  /** What they look for in messages, to be found together with what is masked. */
  readonly terms?: ConstructorParameters<typeof MaskableRows>[1];
  /** Hears what they did to the entries of a request; those that did nothing are left out. */
  readonly applied: (outcomes: readonly RuleOutcome[]) => void;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** What is to become of the entries of a request. */
export interface JudgedEntries extends ChangedTexts {
  /** The positions of those that are not stored. */
  readonly dropped: ReadonlySet<number>;
  readonly outcomes: readonly RuleOutcome[];
}

/** Entries judged before others get a turn: some milliseconds. */
const ROWS_PER_STEP = 1_000;

interface CompiledRule {
  readonly rule: EntryRule;
  readonly masker: EntryMasker | null;
  /** Place among the rules that mask; -1 for the others. */
  readonly mask: number;
}

/** A rule that is asked about the entries of a request, and what it did so far. */
interface JudgingRule extends CompiledRule {
  /** Null for one that masks and finds nothing. */
  test: RowTest | null;
  dropped: number;
  masked: number;
}

/** The rules of an organisation, in their order. */
export class EntryRules {
  readonly rules: readonly EntryRule[];
  readonly applied: EntryRulesOptions["applied"];
  readonly #random: () => number;
  readonly #compiled: readonly CompiledRule[];
  readonly #maskable: MaskableRows | null;

  constructor({ rules, terms = [], applied, random }: EntryRulesOptions) {
    this.rules = rules;
    this.applied = applied;
    this.#random = random;
    const masks: Mask[] = [];
    this.#compiled = rules.map((rule) => {
      const { action } = rule;
      if (action.kind !== "mask") return { rule, masker: null, mask: -1 };
      return { rule, masker: new EntryMasker(action), mask: masks.push(action) - 1 };
    });
    this.#maskable = masks.length === 0 ? null : new MaskableRows(masks, terms);
  }

  /**
   * The entries as the rules leave them. Every rule is asked about the entry as it was received; the first that drops it
   * ends its way, and of what is kept everything is masked that any of the rules before masks. Pauses after some rows, so
   * that others get a turn.
   */
  *judge(entries: EntryColumns): Generator<void, JudgedEntries> {
    const dropped = new Set<number>();
    const replaced = new Map<number, EntryTexts>();
    const judging: JudgingRule[] = this.#compiled.map((rule) => ({
      ...rule,
      test: null,
      dropped: 0,
      masked: 0,
    }));
    const found = this.#maskable === null ? null : yield* this.#maskable.of(entries);
    const texts = new MaskedTexts(entries);
    // Hardly any entry is one that some rule may be for.
    let touched: Uint8Array | null = null;
    for (const rule of judging) {
      const { mask } = rule;
      if (mask !== -1 && found?.mayMaskAny(mask) !== true) continue;
      rule.test = rule.rule.rowsOf(entries, found?.termPlaces ?? null);
      const { candidates } = rule.test;
      for (let i = 0; i < (candidates?.length ?? entries.rows); i++) {
        const row = candidates?.[i] ?? i;
        if (mask !== -1 && found?.mayMask(mask, row) !== true) continue;
        touched ??= new Uint8Array(entries.rows);
        touched[row] = 1;
      }
      yield;
    }
    for (let row = 0; touched !== null && row < entries.rows; row++) {
      if (row % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
      if (touched[row] === 0) continue;
      const fate = this.#judgeRow(entries, judging, { found, texts }, row);
      if (fate === "dropped") dropped.add(row);
      else if (fate !== null) replaced.set(row, fate);
    }
    const outcomes = judging.flatMap(({ dropped, masked }, rule) =>
      dropped + masked === 0 ? [] : [{ rule, dropped, masked }],
    );
    const { messages, values } = texts;
    return { dropped, replaced, messages, values, outcomes };
  }

  /** What becomes of an entry; null when it stays as it is, but for what is among the masked texts then. */
  #judgeRow(
    entries: EntryColumns,
    rules: readonly JudgingRule[],
    { found, texts }: { readonly found: FoundRows | null; readonly texts: MaskedTexts },
    row: number,
  ): "dropped" | EntryTexts | null {
    let masking: JudgingRule[] | null = null;
    for (const judging of rules) {
      const { test, mask } = judging;
      const { action } = judging.rule;
      if (test === null) continue;
      if (action.kind === "mask") {
        if (found?.mayMask(mask, row) !== true || !test.isFor(row)) continue;
        masking ??= [];
        masking.push(judging);
      } else if (test.isFor(row) && (action.kind === "drop" || this.#random() * action.keepOneIn >= 1)) {
        judging.dropped++;
        return "dropped";
      }
    }
    if (masking === null) return null;
    if (found !== null && texts.mask(masking, found, row)) return null;
    const received = entryTexts(entries, row);
    let entry = received;
    for (const rule of masking) {
      const masked = rule.masker?.entry(entry) ?? entry;
      if (masked !== entry) rule.masked++;
      entry = masked;
    }
    return entry === received || texts.take(row, received, entry) ? null : entry;
  }
}
