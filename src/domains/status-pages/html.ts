/** Text that is HTML already. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type { Html };

type Part = string | number | Html | null | readonly (Html | null)[];

/** HTML of a template whose parts are escaped unless they are HTML themselves; null is nothing. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const texts = literals.map((literal, index) => `${literal}${textOf(parts[index] ?? null)}`);
  return new Html(texts.join(""));
}

function textOf(part: Part): string {
  if (part === null) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(textOf).join("");
  return Bun.escapeHTML(String(part));
}
