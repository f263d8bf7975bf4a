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
   * Calls `hit` with a position inside every place of `bytes` that `find` might find something in, and with others: one
   * look at all texts of a batch, so that hardly any of them is looked at alone.
   */
  readonly hint: (bytes: Buffer, hit: (at: number) => void) => void;
  /** Whether what is called so is secret whatever it is. */
  readonly isSecretName?: (name: string) => boolean;
}
