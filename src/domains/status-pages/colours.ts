/** WCAG 2.2, 1.4.3: what text needs on what is behind it. */
const CONTRAST_MIN = 4.5;
/** Each step goes a twentieth of the way to black or white. */
const STEPS = 20;

type Rgb = readonly [number, number, number];

/** The colour nearest to `colour` on the way to black or white that text can have on `background`; all `#rrggbb`. */
export function readableOn(colour: string, background: string): string {
  const back = rgbOf(background);
  const towards: Rgb = luminance(back) > 0.18 ? [0, 0, 0] : [255, 255, 255];
  const wanted = rgbOf(colour);
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(wanted, towards, step / STEPS);
    if (contrastOf(mixed, back) >= CONTRAST_MIN) return hexOf(mixed);
  }
  return hexOf(towards);
}

/** The contrast ratio of two colours, from 1 to 21, as WCAG defines it. */
export function contrast(left: string, right: string): number {
  return contrastOf(rgbOf(left), rgbOf(right));
}

function contrastOf(left: Rgb, right: Rgb): number {
  const [a, b] = [luminance(left), luminance(right)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (a: number, b: number) => Math.round(a + (b - a) * share);
  return [part(from[0], to[0]), part(from[1], to[1]), part(from[2], to[2])];
}

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function hexOf(rgb: Rgb): string {
  return `#${rgb.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
