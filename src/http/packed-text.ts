import { promisify } from "node:util";
import { gzip, zstdCompress } from "node:zlib";

type Coding = "zstd" | "gzip" | "identity";

/** Makes the smaller forms; better ones first, where a client takes several alike. */
const PACKERS = { zstd: promisify(zstdCompress), gzip: promisify(gzip) } as const;

/**
 * A file that many ask for and that does not change while the server runs: it is packed when somebody first asks for a
 * content coding, and clients that have it already are told so by its entity tag.
 */
export class PackedText {
  readonly #read: () => Promise<Uint8Array<ArrayBuffer>>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #forms = new Map<Coding, Promise<Form>>();

  /** `read` is called at most once for each coding; `headers` are those of every answer. */
  constructor(read: () => Promise<Uint8Array<ArrayBuffer>>, headers: Readonly<Record<string, string>>) {
    this.#read = read;
    this.#headers = { ...headers, vary: "Accept-Encoding" };
  }

  async answer(request: Request): Promise<Response> {
    const coding = chosenCoding(request.headers.get("accept-encoding") ?? "");
    const { bytes, etag } = await this.#form(coding);
    const headers: Record<string, string> = { ...this.#headers, etag };
    if (isKnown(request.headers.get("if-none-match") ?? "", etag))
      return new Response(null, { status: 304, headers });
    if (coding !== "identity") headers["content-encoding"] = coding;
    return new Response(bytes, { headers });
  }

  #form(coding: Coding): Promise<Form> {
    const known = this.#forms.get(coding);
    if (known !== undefined) return known;
    const made = this.#make(coding);
    this.#forms.set(coding, made);
    made.catch(() => this.#forms.delete(coding));
    return made;
  }

  async #make(coding: Coding): Promise<Form> {
    const plain = await this.#read();
    const etag = `"${Bun.hash(plain).toString(36)}-${coding}"`;
    return { etag, bytes: coding === "identity" ? plain : new Uint8Array(await PACKERS[coding](plain)) };
  }
}

interface Form {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the coding: forms that differ in bytes are different entities. */
  readonly etag: string;
}

/** The best coding that an Accept-Encoding header lets through. */
function chosenCoding(accepted: string): Coding {
  const weights = new Map(accepted.split(",").map(weightOf));
  const takes = (coding: Coding): boolean => (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
  return takes("zstd") ? "zstd" : takes("gzip") ? "gzip" : "identity";
}

function weightOf(item: string): [string, number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [coding, weight === undefined ? 1 : Number(weight.slice(2))];
}

function isKnown(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
