import { isJsonObject, numberText, tryParseJson } from "../decode/json-body.ts";
import type { Mapping, SourceFormat } from "../mapping/mapping.ts";
import { parsePath } from "../mapping/path.ts";
import type { RejectedRecord } from "../record/rejections.ts";
import { EntryMasker, MASKABLE_COLUMNS, MASKED, type Mask, withReplaced } from "./mask.ts";
import { NamedValues } from "./named-values.ts";

/** Members under which senders give a name apart from its value, as OpenTelemetry does. */
const NAME_MEMBERS = ["key", "name"];
/** The mark of a name that is the sender's own: GELF, "Additional fields". */
const OWN_NAME = /(?<=^|\.)_/g;
/** Formats whose values are told apart by where they stand, or whose names are short for others. */
const NAMELESS_FORMATS: ReadonlySet<SourceFormat> = new Set(["text", "cef"]);
const INDEX = /^\d+$/;
/**
 * Attributes that the server names itself, whatever senders call them: of lines that it recognises, of headers and envelopes.
 * Such a value stands in a record under another name, or under none.
 */
const OWN_ATTRIBUTE =
  /^(?:aws|client|code|container|db|envoy|error|event|faas|haproxy|http|log|logplex|metric|network|openstack|otel|process|redis|server|span|syslog|thread|url|user_agent)\.|^(?:logger|extension|user\.(?:id|name))$/;
/** What is no text, in which names and values are told apart by bytes; and events whose fields are named by other fields. */
const NAMES_APART = /[[\p{Cc}\u{fffd}]--[\t\n\v\f\r]]|\bCEF:\d/v;
/** Deeper records are taken as texts. */
const RECORD_MAX_DEPTH = 64;
/** Pieces of a record that a reason shows, to its end where that was cut off. */
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|`[^`]*(?:`|$)/g;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Masks records that could not be read as entries: everything that any of the masks hides, wherever it may stand. What a
 * column was to be made of can stand anywhere in a record, so that of one whose columns are masked nothing is left.
 */
export class RawMasker {
  readonly #masks: readonly Mask[];
  readonly #maskers: readonly EntryMasker[];
  readonly #hidesAll: boolean;
  readonly #fields: readonly string[];
  /** A value behind the name of a masked field; null when there are none. */
  readonly #named: NamedValues | null;

  /** `isNameless`: a record does not say which of its values is which. */
  constructor(masks: readonly Mask[], isNameless = false) {
    this.#masks = masks;
    this.#maskers = masks.map((mask) => new EntryMasker(mask));
    this.#fields = [...new Set(masks.flatMap(({ fields }) => fields))];
    this.#hidesAll =
      (isNameless && this.#fields.length > 0) ||
      this.#fields.some(
        (field) => OWN_ATTRIBUTE.test(field) || MASKABLE_COLUMNS.some((column) => column === field),
      );
    this.#named = this.#fields.length === 0 ? null : namedValue(this.#fields);
  }

  /** For the records of a source, whose mapping may call a field otherwise than the sender does. */
  ofSource({ format, mapping }: { format: SourceFormat; mapping: Mapping }): RawMasker {
    if (NAMELESS_FORMATS.has(format)) return new RawMasker(this.#masks, true);
    const fields = this.#fields.flatMap((field) => pathsOf(mapping, field));
    return fields.length === 0 ? this : new RawMasker([...this.#masks, { fields, patterns: [] }]);
  }

  record({ place, reason, raw }: RejectedRecord): RejectedRecord {
    return {
      place: this.#text(place),
      reason: this.#text(this.#named === null ? reason : reason.replaceAll(QUOTED, `"${MASKED}"`)),
      raw: raw === null ? null : this.#bytes(raw),
    };
  }

  /** The text of a record. */
  text(text: string): string {
    // Of other encodings than UTF-8 the texts cannot be seen.
    if (this.#hidesAll || text.includes("\0")) return MASKED;
    if (this.#fields.length > 0 && NAMES_APART.test(text)) return MASKED;
    const parsed = tryParseJson(text, RECORD_MAX_DEPTH);
    if (!parsed.ok) return this.#text(text);
    const masked = this.#value(parsed.value, "");
    // A member that is given twice is in the text and not in its value.
    return masked === parsed.value ? this.#text(text) : JSON.stringify(masked);
  }

  /** The same bytes when there is nothing in them to mask. */
  #bytes(raw: Uint8Array): Uint8Array {
    const text = decoder.decode(raw);
    const masked = this.text(text);
    return masked === text ? raw : encoder.encode(masked);
  }

  #value(value: unknown, path: string): unknown {
    if (this.#isSecret(path)) return MASKED;
    if (typeof value === "string") return this.#text(value);
    const number = numberText(value);
    if (number !== null) return this.#text(number) === number ? value : this.#text(number);
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => this.#value(item, path));
      return items.every((item, i) => item === value[i]) ? value : items;
    }
    if (!isJsonObject(value)) return value;
    const named = NAME_MEMBERS.find((member) => {
      const name = value[member];
      return typeof name === "string" && this.#isSecret(name);
    });
    const members = Object.entries(value).map(([name, member]): [string, unknown] => {
      if (named !== undefined && name !== named) return [this.#text(name), MASKED];
      return [this.#text(name), this.#value(member, path === "" ? name : `${path}.${name}`)];
    });
    return members.every(([name, member]) => name in value && value[name] === member)
      ? value
      : Object.fromEntries(members);
  }

  /** Whether the path ends with a masked field: what stands before it differs between senders. */
  #isSecret(path: string): boolean {
    const names = path.replaceAll(OWN_NAME, "");
    return (
      this.#fields.some((field) =>
        [path, names].some((name) => name === field || name.endsWith(`.${field}`)),
      ) || this.#maskers.some((masker) => masker.isSecretName(path))
    );
  }

  #text(text: string): string {
    const masked = this.#maskers.reduce((left, masker) => masker.text(left), text);
    return this.#named === null ? masked : withReplaced(masked, this.#named.in(masked));
  }
}

/** Where a sender has what the mapping makes a field, or a member of it; indexes of arrays are no part of a path here. */
function pathsOf({ fields = {} }: Mapping, masked: string): string[] {
  return Object.entries(fields).flatMap(([name, { from, fromDefault }]) => {
    if (masked !== name && !masked.startsWith(`${name}.`)) return [];
    return [from, fromDefault].flatMap((path) => {
      const segments = path === undefined ? null : parsePath(path);
      if (segments === null) return [];
      const named = segments.filter((segment) => !INDEX.test(segment));
      return [segments, named].map((parts) => parts.join(".") + masked.slice(name.length));
    });
  });
}

/** A field is called by its last part as well. */
function namedValue(fields: readonly string[]): NamedValues {
  const names = fields.flatMap((field) => [field, field.slice(field.lastIndexOf(".") + 1)]);
  const alternatives = [...new Set(names)].filter((name) => name !== "").map((name) => RegExp.escape(name));
  return new NamedValues(`(?<![\\w-])_?(?:${alternatives.join("|")})`, MASKED, "text");
}
