/** Names and positions that lead to a value in a document. */
export type Place = readonly (string | number)[];

/** Why a document is no rule, and where. */
export interface SigmaProblem {
  readonly message: string;
  /** JSON pointer into the document. */
  readonly path: string;
  /** Of the whole text, from 1. */
  readonly line: number;
  readonly column: number;
}

/** What a document says at a place cannot be taken over; the message says why. */
export class SigmaRefusal extends Error {
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

export function pointerOf(place: Place): string {
  return place.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
