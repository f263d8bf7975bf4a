import { EXTERNAL_FORMATS, type ExternalFormat, type ExternalSource, externalKey } from "../kept.ts";
import { EXTERNAL_FILES_MAX_COUNT } from "../limits.ts";
import { keptScan } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { refuseTwice } from "./column-names.ts";
import type { Environment } from "./environment.ts";
import { nearestName } from "./nearest-name.ts";
import { refuse } from "./refusal.ts";
import { typeNamed } from "./types.ts";

/** Ends the binding of a query that reads files elsewhere which nobody has fetched yet. */
export class ExternalNeeded extends Error {
  readonly source: ExternalSource;
  readonly span: Span;

  constructor(source: ExternalSource, span: Span) {
    super("the query reads files elsewhere");
    this.name = "ExternalNeeded";
    this.source = source;
    this.span = span;
  }
}

/** The rows of files elsewhere, once they have been fetched. Throws ExternalNeeded until then. */
export function bindExternalData(
  expression: syntax.ExternalDataExpression,
  environment: Environment,
): Relation {
  const source = sourceOf(expression);
  const table = environment.compilation.externals.get(externalKey(source));
  if (table === undefined) throw new ExternalNeeded(source, expression.span);
  const relation = keptScan(table);
  environment.mention(relation, expression.span);
  return relation;
}

function sourceOf({ columns, urls, properties, span }: syntax.ExternalDataExpression): ExternalSource {
  const declared = columns.map(({ name, type }) => ({ name: name.name, type: typeNamed(type) }));
  if (declared.length === 0) refuse("SYNTAX", "externaldata needs columns: (name: type, ...).", span);
  refuseTwice(columns.map(({ name }) => name));
  if (urls.length === 0 || urls.length > EXTERNAL_FILES_MAX_COUNT)
    refuse("WRONG_ARGUMENTS", `externaldata takes 1 to ${EXTERNAL_FILES_MAX_COUNT} addresses.`, span);
  const addresses = urls.map(addressOf);
  const format = properties.find(({ name }) => name.name.toLowerCase() === "format");
  const ignores = properties.find(({ name }) => name.name.toLowerCase() === "ignorefirstrecord");
  const unknown = properties.find((property) => property !== format && property !== ignores);
  if (unknown !== undefined) refuseProperty(unknown.name);
  const [first = ""] = addresses;
  return {
    urls: addresses,
    columns: declared,
    format: format === undefined ? formatOfName(first) : formatNamed(format.value),
    ignoresFirstRecord: ignores !== undefined && isTrue(ignores.value),
  };
}

function addressOf(address: syntax.Expression): string {
  if (address.kind !== "literal" || typeof address.value !== "string")
    return refuse("NOT_A_CONSTANT", 'An address in quotes belongs here: "https://...".', address.span);
  const url = URL.parse(address.value);
  if (url !== null && (url.protocol === "https:" || url.protocol === "http:")) return address.value;
  return refuse("WRONG_ARGUMENTS", "An address begins with https:// or http:// here.", address.span);
}

/** Formats by the names that Kusto has for them. */
const FORMAT_NAMES: ReadonlyMap<string, ExternalFormat> = new Map([
  ...EXTERNAL_FORMATS.map((name): [string, ExternalFormat] => [name, name]),
  ["tsve", "tsv"],
  ["jsonl", "json"],
  ["ndjson", "json"],
  ["raw", "txt"],
]);

function formatNamed(value: syntax.Expression): ExternalFormat {
  const name = textOf(value).toLowerCase();
  const format = FORMAT_NAMES.get(name);
  if (format !== undefined) return format;
  const suggestion = nearestName(name, FORMAT_NAMES.keys());
  return refuse(
    "UNSUPPORTED",
    `There is no format ${name} here; there are ${EXTERNAL_FORMATS.join(", ")}.`,
    value.span,
    suggestion,
  );
}

/** What the name of the file says, with `.gz` left aside; else CSV, as in Kusto. */
function formatOfName(url: string): ExternalFormat {
  const path = (URL.parse(url)?.pathname ?? "").toLowerCase().replace(/\.gz$/, "");
  const extension = path.slice(path.lastIndexOf(".") + 1);
  return FORMAT_NAMES.get(extension) ?? "csv";
}

function isTrue(value: syntax.Expression): boolean {
  const text = textOf(value).toLowerCase();
  if (text === "true" || text === "false") return text === "true";
  return refuse("WRONG_TYPE", "true or false belongs here.", value.span);
}

function textOf(value: syntax.Expression): string {
  if (value.kind === "name") return value.name;
  return value.kind === "literal" && value.value !== null ? String(value.value) : "";
}

function refuseProperty({ name, span }: syntax.Identifier): never {
  const names = ["format", "ignoreFirstRecord"];
  return refuse(
    "UNSUPPORTED",
    `externaldata has no property ${name} here; there are ${names.join(" and ")}.`,
    span,
    nearestName(name, names),
  );
}
