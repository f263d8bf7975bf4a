import type { Static, TObject } from "typebox";
import { nearestName } from "../../query/index.ts";
import type { FieldIssue } from "../errors.ts";
import { validationFailed } from "../errors.ts";
import { pointerTo } from "./json-pointer.ts";
import { compileSchema } from "./validate.ts";

/** JSON types a parameter's text may be converted to; text that does not fit exactly stays text and fails the schema. */
interface ParameterKind {
  readonly isArray: boolean;
  readonly number: boolean;
  readonly integer: boolean;
  readonly boolean: boolean;
}

/**
 * Compiles the parser of a query. It takes the query without its `?` and answers the validated parameters; it throws
 * VALIDATION_FAILED with issues at `/name` for unknown, repeated and violating parameters and for malformed encoding.
 * A schema with `additionalProperties: true` ignores unknown ones, for queries that somebody else's server makes.
 */
export function compileQuery<Q extends TObject>(schema: Q | undefined): (search: string) => Static<Q> {
  const checker = compileSchema<Q>(schema);
  const kinds = new Map(
    Object.entries(schema?.properties ?? {}).map(([name, property]) => [name, kindOf(property)]),
  );
  const isOpen = isRecord(schema) && schema.additionalProperties === true;
  return (search) => {
    const values: Record<string, unknown> = {};
    const issues: FieldIssue[] = [];
    if (search !== "") {
      for (const pair of search.split("&")) if (pair !== "") assign(values, pair, { kinds, isOpen }, issues);
    }
    if (issues.length === 0 && checker.check(values)) return values;
    throw validationFailed([...issues, ...checker.issues(values)]);
  };
}

function assign(
  values: Record<string, unknown>,
  pair: string,
  { kinds, isOpen }: { kinds: ReadonlyMap<string, ParameterKind>; isOpen: boolean },
  issues: FieldIssue[],
): void {
  const equals = pair.indexOf("=");
  const name = decode(equals === -1 ? pair : pair.slice(0, equals));
  const text = equals === -1 ? "" : decode(pair.slice(equals + 1));
  if (name === undefined || text === undefined) {
    issues.push({
      path: pointerTo(name ?? ""),
      code: "invalid_string",
      message: "is not valid percent-encoded UTF-8",
    });
    return;
  }
  const kind = kinds.get(name);
  if (kind === undefined) {
    if (!isOpen)
      issues.push({
        path: pointerTo(name),
        code: "unrecognized_keys",
        message: unknownParameter(name, kinds),
      });
  } else if (kind.isArray) {
    const list = values[name];
    if (Array.isArray(list)) list.push(convert(text, kind));
    else values[name] = [convert(text, kind)];
  } else if (Object.hasOwn(values, name)) {
    issues.push({ path: pointerTo(name), code: "invalid_type", message: "is given more than once" });
  } else {
    values[name] = convert(text, kind);
  }
}

/** Says which parameter was probably meant. */
function unknownParameter(name: string, known: ReadonlyMap<string, ParameterKind>): string {
  const near = nearestName(name, known.keys());
  return `is not a known parameter${near === null ? "" : `; did you mean ${near}?`}`;
}

function decode(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

function convert(text: string, kind: ParameterKind): unknown {
  if (kind.boolean && (text === "true" || text === "false")) return text === "true";
  if (kind.integer && /^-?(?:0|[1-9]\d*)$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : text;
  }
  if (kind.number && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return Number(text);
  return text;
}

function kindOf(property: unknown): ParameterKind {
  const isArray = isRecord(property) && property.type === "array";
  const types = jsonTypes(isArray ? property.items : property);
  return {
    isArray,
    number: types.includes("number"),
    integer: types.includes("integer"),
    boolean: types.includes("boolean"),
  };
}

/** The JSON types a schema admits; a number that only admits constants counts as an integer when they are. */
function jsonTypes(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap(jsonTypes);
  if (Array.isArray(schema.enum)) return schema.enum.map((value: unknown) => typeof value);
  return typeof schema.type === "string" ? [schema.type] : [typeof schema.const];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
