import fc from "fast-check";

/** What a process, its disk or its end may do. */
export type Action =
  | { readonly kind: "append"; readonly sizes: readonly number[]; readonly keys: number }
  | { readonly kind: "appendTogether"; readonly sizes: readonly number[]; readonly keys: number }
  | { readonly kind: "flush"; readonly maxBytes: number; readonly release: boolean }
  | { readonly kind: "intent"; readonly maxBytes: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "diskFull"; readonly room: number }
  | { readonly kind: "diskFree" }
  | { readonly kind: "shortWrites"; readonly bytes: number }
  | { readonly kind: "failSync" }
  | { readonly kind: "close" }
  | { readonly kind: "kill" }
  | { readonly kind: "cutPower"; readonly seed: number; readonly keep: number }
  | {
      /** The process ends at the given operation of what it is doing. */
      readonly kind: "die";
      readonly during: "append" | "appendTogether" | "flush" | "open";
      readonly operations: number;
      readonly sizes: readonly number[];
      readonly seed: number;
      readonly keep: number;
    };

const sizes = fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 8 });
const seed = fc.nat();
const keep = fc.constantFrom(0, 0.2, 0.8, 1);
/** Any action, the usual ones more often. */
export const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("append"), sizes, keys: fc.integer({ min: 0, max: 5 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("appendTogether"),
      sizes: fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 2, maxLength: 5 }),
      keys: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("flush"),
      maxBytes: fc.integer({ min: 1, max: 6000 }),
      release: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("intent"), maxBytes: fc.integer({ min: 1, max: 6000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait"), ms: fc.integer({ min: 0, max: 8000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("diskFull"), room: fc.integer({ min: 0, max: 3000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("diskFree") }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("shortWrites"), bytes: fc.integer({ min: 1, max: 4000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("failSync") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cutPower"), seed, keep }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("die"),
      during: fc.constantFrom("append", "appendTogether", "flush", "open"),
      operations: fc.integer({ min: 0, max: 24 }),
      sizes,
      seed,
      keep,
    }),
  },
);
