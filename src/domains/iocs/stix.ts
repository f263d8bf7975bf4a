import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import type { FileRow } from "./file-row.ts";
import { member, textMember } from "./json-member.ts";
import type { JsonPart } from "./json-part.ts";

/** One comparison of a pattern: an address, a domain or a hash of a file. Source: STIX 2.1, section 9 (Patterning). */
const COMPARISON =
  /(ipv4-addr|ipv6-addr|domain-name):value\s*=\s*'((?:[^'\\]|\\.)*)'|file:hashes\.(?:'([^']+)'|"([^"]+)"|([A-Za-z0-9-]+))\s*=\s*'((?:[^'\\]|\\.)*)'/g;

/** The indicators of a bundle, one row for each comparison of a pattern whose alternatives each suffice. Throws FileProblem. */
export function* stixRows(json: JsonPart): Generator<FileRow, undefined> {
  if (!json.isList && json.textMember("type") !== "bundle")
    throw new FileProblem("The file is no STIX 2.1 bundle: it has no type bundle.");
  const objects = json.isList ? json : json.member("objects");
  let place = 0;
  for (const part of objects?.elements() ?? []) {
    const object = part.value();
    if (textMember(object, "type") === "indicator") yield* rowsOf(object, `/objects/${place}`);
    place++;
  }
}

function rowsOf(object: unknown, place: string): FileRow[] {
  const pattern = textMember(object, "pattern") ?? "";
  const about = {
    place,
    description: textMember(object, "description") ?? textMember(object, "name"),
    expiresAt: textMember(object, "valid_until"),
    confidence: textMember(object, "confidence"),
  };
  const refused = (refusal: string): FileRow[] => [{ ...about, type: "", value: pattern, refusal }];
  if (member(object, "revoked") === true) return refused("is revoked");
  if ((textMember(object, "pattern_type") ?? "stix") !== "stix")
    return refused("has a pattern that is not of STIX");
  const comparisons = [...pattern.matchAll(COMPARISON)];
  // What is left between the comparisons has to be brackets and OR: anything else asks for more than one of them.
  const between = pattern.replace(COMPARISON, "").replace(/\bOR\b|[[\]()\s]/g, "");
  if (comparisons.length === 0 || between !== "")
    return refused("has a pattern that is not an address, a domain or a hash, or several of them with OR");
  return comparisons.map(([, kind, value, quoted, doubled, plain, hash]) => ({
    ...about,
    type: kind ?? quoted ?? doubled ?? plain ?? "",
    value: (value ?? hash ?? "").replace(/\\(.)/g, "$1"),
  }));
}
