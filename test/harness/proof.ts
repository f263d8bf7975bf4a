/**
 * How often a proof repeats itself. A file named `*.proof.test.ts` holds one: the ordinary run takes a seeded sample of
 * it, `bun run proof` the whole.
 */
export function proofRounds(rounds: { readonly sample: number; readonly whole: number }): number {
  return Bun.env.OBS_PROOF === "1" ? rounds.whole : rounds.sample;
}
