import { CommittedBlock } from "./committed-block.ts";
import { type EntryTexts, entryTexts } from "./masking/entry-texts.ts";
import { EntryMasker, type Mask } from "./masking/mask.ts";
import { MaskableRows } from "./masking/maskable-rows.ts";
import { BlockReader } from "./native/block-reader.ts";

/** What becomes of the entries that a rule is for. */
export type EntryAction =
  | { readonly kind: "drop" }
  /** One in so many is kept, by chance. */
  | { readonly kind: "sample"; readonly keepOneIn: number }
  | ({ readonly kind: "mask" } & Mask);

/** A rule of an organisation for entries that are about to be stored. */
export interface EntryRule {
  readonly action: EntryAction;
  /** Says which entries of a block it is for, as they were received. */
  readonly rowsOf: (block: CommittedBlock) => (row: number) => boolean;
}

/** What a rule did to the entries of a request. */
interface RuleOutcome {
  /** Place of the rule among the others. */
  readonly rule: number;
  readonly dropped: number;
  readonly masked: number;
}

/** The rules of an organisation, in their order. */
export interface EntryRules {
  readonly rules: readonly EntryRule[];
  /** Hears what they did to the entries of a request; those that did nothing are left out. */
  readonly applied: (outcomes: readonly RuleOutcome[]) => void;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** What is to become of the entries of a request. */
export interface JudgedEntries {
  /** As they were received; null when there are none. */
  readonly entries: CommittedBlock | null;
  /** The positions of those that are not stored. */
  readonly dropped: ReadonlySet<number>;
  /** What others have instead of their texts, by their positions. */
  readonly replaced: ReadonlyMap<number, EntryTexts>;
  readonly outcomes: readonly RuleOutcome[];
}

/** Entries judged before others get a turn: some milliseconds. */
const ROWS_PER_STEP = 1_000;

const NOTHING_JUDGED: JudgedEntries = {
  entries: null,
  dropped: new Set(),
  replaced: new Map(),
  outcomes: [],
};

/** A compiled rule, and what it did so far. */
interface JudgingRule {
  readonly action: EntryAction;
  readonly isFor: (row: number) => boolean;
  readonly masker: EntryMasker | null;
  /** 1 for every row in which the mask may find something; null for a rule that masks nothing. */
  readonly maskable: Uint8Array | null;
  dropped: number;
  masked: number;
}

/**
 * The entries of a block as the rules leave them. Every rule is asked about the entry as it was received; the first that
 * drops it ends its way, and of what is kept everything is masked that any of the rules before masks. Pauses after some
 * rows, so that others get a turn.
 */
export function* judgeEntries(
  block: Uint8Array,
  { rules, random }: EntryRules,
): Generator<void, JudgedEntries> {
  if (new BlockReader(block).rows === 0) return NOTHING_JUDGED;
  const entries = new CommittedBlock(block);
  const maskable = new MaskableRows(entries);
  const judging: JudgingRule[] = [];
  for (const { action, rowsOf } of rules) {
    judging.push({
      action,
      isFor: rowsOf(entries),
      masker: action.kind === "mask" ? new EntryMasker(action) : null,
      maskable: action.kind === "mask" ? maskable.of(action) : null,
      dropped: 0,
      masked: 0,
    });
    yield;
  }
  const dropped = new Set<number>();
  const replaced = new Map<number, EntryTexts>();
  for (let row = 0; row < entries.rows; row++) {
    if (row % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
    const fate = judgeRow(entries, judging, random, row);
    if (fate === "dropped") dropped.add(row);
    else if (fate !== null) replaced.set(row, fate);
  }
  return {
    entries,
    dropped,
    replaced,
    outcomes: judging.flatMap((rule, place) =>
      rule.dropped + rule.masked === 0 ? [] : [{ rule: place, dropped: rule.dropped, masked: rule.masked }],
    ),
  };
}

/** What becomes of an entry; null when it stays as it is. */
function judgeRow(
  block: CommittedBlock,
  rules: readonly JudgingRule[],
  random: () => number,
  row: number,
): "dropped" | EntryTexts | null {
  let masking: JudgingRule[] | null = null;
  for (const rule of rules) {
    const { action, maskable } = rule;
    if (action.kind === "mask") {
      if (maskable?.[row] !== 1 || !rule.isFor(row)) continue;
      masking ??= [];
      masking.push(rule);
    } else if (rule.isFor(row) && (action.kind === "drop" || random() * action.keepOneIn >= 1)) {
      rule.dropped++;
      return "dropped";
    }
  }
  if (masking === null) return null;
  const received = entryTexts(block, row);
  let entry = received;
  for (const rule of masking) {
    const masked = rule.masker?.entry(entry) ?? entry;
    if (masked !== entry) rule.masked++;
    entry = masked;
  }
  return entry === received ? null : entry;
}
