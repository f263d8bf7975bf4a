import type { Library, LibraryFunction, LibraryFunctionName } from "../../../query/index.ts";
import { STRETCH_MS } from "./limits.ts";

/** A library of which one query computes nothing twice, and much at a time without holding up others. */
export class MemoisedLibrary {
  readonly library: Library;
  readonly #made = new Map<string, string>();

  constructor(library: Library) {
    const { geo_info_from_ip_address: place, parse_user_agent: agent, parse_xml: xml } = library;
    this.library = {
      geo_info_from_ip_address: this.#memoised("geo_info_from_ip_address", place),
      parse_user_agent: this.#memoised("parse_user_agent", agent),
      parse_xml: this.#memoised("parse_xml", xml),
    };
  }

  /** Computes a function of all texts, in stretches. */
  async computeAll(
    { name, option }: { readonly name: LibraryFunctionName; readonly option: string | null },
    texts: Iterable<string>,
  ): Promise<void> {
    const compute = this.library[name];
    let stretch = performance.now();
    for (const text of texts) {
      compute?.(text, option);
      if (performance.now() - stretch < STRETCH_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      stretch = performance.now();
    }
  }

  #memoised(name: LibraryFunctionName, compute: LibraryFunction | null): LibraryFunction | null {
    if (compute === null) return null;
    return (text, option) => {
      const key = JSON.stringify([name, option, text]);
      const known = this.#made.get(key);
      if (known !== undefined) return known;
      const made = compute(text, option);
      this.#made.set(key, made);
      return made;
    };
  }
}
