import type { EncodedTexts } from "../native/block-reader.ts";

/** Part of a text that is masked, and what stands there instead. */
export interface MaskedSpan {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Something secret that is known by its form. */
export interface MaskPattern {
  /** Spans of a text, in ascending order, none over another. The time taken is proportional to the length of the text. */
  readonly find: (text: string) => readonly MaskedSpan[];
  /**
   * How hardly any of many texts is looked at alone: every text in which `find` finds something holds one of the literals,
   * or is one that a look at all of them calls `hit` with.
   */
  readonly hint:
    | { readonly literals: readonly string[] }
    | { readonly look: (texts: EncodedTexts, hit: (text: number) => void) => void };
  /** Whether what is called so is secret whatever it is. */
  readonly isSecretName?: (name: string) => boolean;
}
