const RISING = [" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"];
const GROWING = ["", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"];
const FULL = "\u2588";
const EIGHTHS = 8;

/** A bar of `share` (0 to 1) of `width` columns, to the eighth of one; what is more than nothing is seen. */
export function horizontalBar(share: number, width: number): string {
  const eighths = toEighths(share, width * EIGHTHS);
  return FULL.repeat(Math.floor(eighths / EIGHTHS)) + (GROWING[eighths % EIGHTHS] ?? "");
}

/** Shares (0 to 1; null is a gap) as columns of `height` lines, from the top to the bottom. */
export function risingColumns(shares: readonly (number | null)[], height: number): string[] {
  const eighths = shares.map((share) => (share === null ? 0 : toEighths(share, height * EIGHTHS)));
  return Array.from({ length: height }, (_, line) => {
    const below = (height - 1 - line) * EIGHTHS;
    return eighths.map((value) => RISING[Math.max(0, Math.min(EIGHTHS, value - below))]).join("");
  });
}

/** Numbers from zero up as one line of columns, the largest the highest. */
export function sparkline(values: readonly number[]): string {
  const largest = Math.max(0, ...values);
  const shares = values.map((value) => (largest === 0 ? 0 : Math.max(0, value) / largest));
  return risingColumns(shares, 1)[0] ?? "";
}

function toEighths(share: number, eighths: number): number {
  const rounded = Math.round(Math.max(0, Math.min(1, share)) * eighths);
  return rounded === 0 && share > 0 ? 1 : rounded;
}
