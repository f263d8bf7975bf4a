import { InheritedFields } from "../../record/inherited-fields.ts";
import { RecordWriter } from "../../record/record-writer.ts";
import { JSON_ARRAY, JSON_ESCAPED_STRING, JSON_NUMBER, JSON_OBJECT, type JsonTape } from "../json-tape.ts";
import { AnyValues, KeyValues, PLAIN, TEXT } from "./any-values.ts";
import { AttributeOutput } from "./attribute-output.ts";
import { FieldNames } from "./field-names.ts";
import { refused } from "./refused.ts";

const RESOURCE_FIELDS = new FieldNames(["attributes", "droppedAttributesCount"]);
const SCOPE_FIELDS = new FieldNames(["attributes", "droppedAttributesCount", "name", "version"]);
/** Attributes of a resource that are columns of an entry. */
const COLUMN_ATTRIBUTES = new FieldNames(["service.name", "host.name"]);
const SERVICE_NAME = 0;
const HOST_NAME = 1;

const encoder = new TextEncoder();

/** Under what names what is known about a resource or scope is kept. */
const KEPT = {
  resourceSchema: encoder.encode("otel.resource.schema_url"),
  resourceDropped: encoder.encode("otel.resource.dropped_attributes_count"),
  scopeSchema: encoder.encode("otel.scope.schema_url"),
  scopeDropped: encoder.encode("otel.scope.dropped_attributes_count"),
  scopeVersion: encoder.encode("otel.scope.version"),
};

/** What a request carries: the names of its lists in the JSON encoding, from the outermost to the innermost. */
export interface Signal {
  readonly resources: string;
  readonly scopes: string;
  readonly items: string;
  /** Makes what writes the items. */
  readonly writer: (values: AnyValues, output: AttributeOutput) => ItemWriter;
}

/** Writes the items of the innermost lists. */
export interface ItemWriter {
  open(writer: RecordWriter): void;
  /** Writes the item at a token, the one at `index` of the list at `place`, with what it inherits. */
  writeItem(
    item: number,
    place: string,
    index: number,
    scope: InheritedFields,
    resource: InheritedFields,
  ): void;
}

/**
 * Writes the export request of a signal, whose tokens are on a tape as its JSON encoding has them, in whatever encoding it
 * came.
 */
export class ExportRequest {
  readonly #tape: JsonTape;
  readonly #values: AnyValues;
  readonly #output: AttributeOutput;
  readonly #signal: Signal;
  readonly #requestFields: FieldNames;
  readonly #resourceFields: FieldNames;
  readonly #scopeFields: FieldNames;
  readonly #items: ItemWriter;
  readonly #attributes = new KeyValues();
  readonly #resource = new InheritedFields();
  readonly #scope = new InheritedFields();
  #writer = new RecordWriter();

  constructor(tape: JsonTape, signal: Signal) {
    this.#tape = tape;
    this.#signal = signal;
    this.#requestFields = new FieldNames([signal.resources]);
    this.#resourceFields = new FieldNames(["resource", signal.scopes, "schemaUrl"]);
    this.#scopeFields = new FieldNames(["scope", signal.items, "schemaUrl"]);
    this.#values = new AnyValues(tape);
    this.#output = new AttributeOutput(this.#values);
    this.#items = signal.writer(this.#values, this.#output);
  }

  /** Throws IngestRejectedError for what is of another shape than the protocol's, above the records. */
  write(writer: RecordWriter): void {
    this.#writer = writer;
    this.#output.open(writer);
    this.#items.open(writer);
    const [resources = 0] = this.#read(this.#requestFields, 0, "");
    this.#each(resources, `/${this.#signal.resources}`, (item, place) => this.#readOfResource(item, place));
  }

  #readOfResource(item: number, place: string): void {
    const [resource = 0, scopes = 0, schemaUrl = 0] = this.#read(this.#resourceFields, item, place);
    this.#writer.beginInherited(this.#resource);
    this.#output.writeTo(this.#resource);
    if (resource !== 0) this.#readResource(resource, `${place}/resource`);
    this.#keep(KEPT.resourceSchema, schemaUrl);
    this.#each(scopes, `${place}/${this.#signal.scopes}`, (scope, scopePlace) =>
      this.#readOfScope(scope, scopePlace),
    );
  }

  #readResource(resource: number, place: string): void {
    const [attributes = 0, dropped = 0] = this.#read(RESOURCE_FIELDS, resource, place);
    this.#readAttributes(attributes, place);
    const all = this.#attributes;
    let servicePosition = -1;
    let hostPosition = -1;
    for (let i = 0; i < all.count; i++) {
      const name = all.names[i] ?? 0;
      const kind = all.kinds[i] ?? 0;
      if (name === 0 || (kind !== TEXT && kind !== PLAIN)) continue;
      const column = COLUMN_ATTRIBUTES.find(this.#tape, name);
      if (column === SERVICE_NAME && servicePosition < 0) {
        servicePosition = i;
        this.#inheritName(this.#resource, "service", all.tokens[i] ?? 0);
      } else if (column === HOST_NAME && hostPosition < 0) {
        hostPosition = i;
        this.#inheritName(this.#resource, "host", all.tokens[i] ?? 0);
      }
    }
    this.#output.writeAll(all, servicePosition, hostPosition);
    this.#keep(KEPT.resourceDropped, dropped);
  }

  #readOfScope(item: number, place: string): void {
    const [scope = 0, items = 0, schemaUrl = 0] = this.#read(this.#scopeFields, item, place);
    this.#writer.beginInherited(this.#scope);
    this.#output.writeTo(this.#scope);
    if (scope !== 0) this.#readScope(scope, `${place}/scope`);
    this.#keep(KEPT.scopeSchema, schemaUrl);
    this.#output.writeTo(null);
    this.#readItems(items, `${place}/${this.#signal.items}`);
  }

  #readScope(scope: number, place: string): void {
    const [attributes = 0, dropped = 0, name = 0, version = 0] = this.#read(SCOPE_FIELDS, scope, place);
    this.#readAttributes(attributes, place);
    this.#output.writeAll(this.#attributes, -1, -1);
    if (name !== 0 && (this.#tape.kinds[name] ?? 0) < JSON_OBJECT)
      this.#inheritName(this.#scope, "source", name);
    this.#keep(KEPT.scopeVersion, version);
    this.#keep(KEPT.scopeDropped, dropped);
  }

  #readItems(list: number, place: string): void {
    if (list === 0) return;
    const tape = this.#tape;
    if (tape.kinds[list] !== JSON_ARRAY) throw refused(place, "is not an array");
    const end = tape.ends[list] ?? 0;
    let index = 0;
    for (let item = list + 1; item < end; item = tape.next(item))
      this.#items.writeItem(item, place, index++, this.#scope, this.#resource);
  }

  #inheritName(inherited: InheritedFields, field: "service" | "source" | "host", token: number): void {
    const tape = this.#tape;
    tape.readText(token);
    this.#writer.inheritedName(inherited, field, tape.textBytes, tape.textStart, tape.textEnd);
  }

  #readAttributes(token: number, place: string): void {
    if (this.#values.readAll(token, this.#attributes)) return;
    throw refused(`${place}/attributes${this.#values.place}`, this.#values.problem);
  }

  /** Keeps a plain value that says something: a text that is not empty, a number that is not zero. */
  #keep(name: Uint8Array, token: number): void {
    const tape = this.#tape;
    const kind = tape.kinds[token] ?? 0;
    const start = tape.starts[token] ?? 0;
    const end = tape.ends[token] ?? 0;
    if (token === 0 || kind >= JSON_OBJECT || start === end) return;
    if (kind === JSON_NUMBER && end - start === 1 && tape.source[start] === 0x30) return;
    this.#output.write(name, kind <= JSON_ESCAPED_STRING ? TEXT : PLAIN, token);
  }

  /** The tokens of a message's fields; refuses the request when the message is none. */
  #read(names: FieldNames, message: number, place: string): Uint32Array {
    if (this.#tape.kinds[message] !== JSON_OBJECT) throw refused(place, "is not an object");
    const tokens = new Uint32Array(names.count);
    names.read(this.#tape, message, tokens);
    return tokens;
  }

  #each(list: number, place: string, visit: (item: number, place: string) => void): void {
    if (list === 0) return;
    const tape = this.#tape;
    if (tape.kinds[list] !== JSON_ARRAY) throw refused(place, "is not an array");
    const end = tape.ends[list] ?? 0;
    let index = 0;
    for (let item = list + 1; item < end; item = tape.next(item)) visit(item, `${place}/${index++}`);
  }
}
