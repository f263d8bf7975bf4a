import { CheckFailure } from "../check-failure.ts";
import { RENDERED_MAX_CHARS } from "../limits.ts";

const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g;

/**
 * Puts the values of variables where `{{name}}` stands, once: a value is never read as a template. Throws CheckFailure, `extraction`, for a name
 * that no step has set, and for a text that becomes too long.
 */
export function render(template: string, variables: ReadonlyMap<string, string>): string {
  let chars = template.length;
  return template.replace(VARIABLE, (written, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new CheckFailure("extraction");
    chars += value.length - written.length;
    if (chars > RENDERED_MAX_CHARS) throw new CheckFailure("extraction");
    return value;
  });
}
