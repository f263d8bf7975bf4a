import type { RecordDecoder } from "../record/record-decoder.ts";

/** Texts of records that are kept of one body, and the characters each may have. */
const TEXTS_MAX = 3;
const TEXT_MAX_CHARS = 8_192;

/** The first records of the body that a learning source decoded last, as they came. Longer ones are passed over. */
export class LearnedTexts {
  #texts: string[] = [];

  get texts(): readonly string[] {
    return this.#texts;
  }

  add(text: string): void {
    if (this.#texts.length < TEXTS_MAX && text.length <= TEXT_MAX_CHARS) this.#texts.push(text);
  }

  clear(): void {
    this.#texts = [];
  }
}

/** What a configured source decodes its bodies with. */
export interface SourceDecoder extends RecordDecoder {
  /** Empty unless the source is learning. */
  readonly learned: LearnedTexts;
}
