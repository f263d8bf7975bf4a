import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import type { FileRow } from "./file-row.ts";
import { member, textMember } from "./json-member.ts";
import type { JsonPart } from "./json-part.ts";

/** Attributes of which a part is looked for. Source: MISP core format, attribute types. */
const COMPOSITES: Readonly<Record<string, readonly (string | null)[]>> = {
  "domain|ip": ["domain", "ip"],
  "ip-src|port": ["ip", null],
  "ip-dst|port": ["ip", null],
  "hostname|port": ["domain", null],
  "filename|md5": [null, "md5"],
  "filename|sha1": [null, "sha1"],
  "filename|sha256": [null, "sha256"],
  "filename|sha512": [null, "sha512"],
};

/** The attributes of one event, of several, or of a search. Throws FileProblem. */
export function* mispRows(json: JsonPart): Generator<FileRow, undefined> {
  const response = json.member("response");
  if (json.isList) yield* rowsOfEvents(json, "");
  else if (response?.isList) yield* rowsOfEvents(response, "/response");
  else if (response !== undefined) yield* rowsOfAttributes(response, "/response", undefined);
  else if (json.member("Event") !== undefined) yield* rowsOfEvent(json, "/Event");
  else throw new FileProblem("The file is no JSON of MISP: it has neither Event nor response.");
}

function* rowsOfEvents(events: JsonPart, path: string): Generator<FileRow, undefined> {
  let place = 0;
  for (const each of events.elements()) yield* rowsOfEvent(each, `${path}/${place++}/Event`);
}

function* rowsOfEvent(each: JsonPart, path: string): Generator<FileRow, undefined> {
  const named = each.member("Event");
  const event = named === undefined || named.isNull ? each : named;
  const source = event.textMember("info");
  yield* rowsOfAttributes(event, path, source);
  let place = 0;
  for (const object of event.member("Object")?.elements() ?? [])
    yield* rowsOfAttributes(object, `${path}/Object/${place++}`, source);
}

function* rowsOfAttributes(
  holder: JsonPart,
  path: string,
  source: string | undefined,
): Generator<FileRow, undefined> {
  let place = 0;
  for (const attribute of holder.member("Attribute")?.elements() ?? [])
    yield* rowsOf(attribute.value(), `${path}/Attribute/${place++}`, source);
}

function rowsOf(attribute: unknown, place: string, source: string | undefined): FileRow[] {
  const type = textMember(attribute, "type") ?? "";
  const value = textMember(attribute, "value") ?? "";
  const about = { place, source, description: textMember(attribute, "comment") };
  if (member(attribute, "deleted") === true) return [{ ...about, type, value, refusal: "is deleted" }];
  if (member(attribute, "to_ids") === false)
    return [{ ...about, type, value, refusal: "is not meant for detection (to_ids is false)" }];
  const parts = COMPOSITES[type];
  if (parts === undefined) return [{ ...about, type, value }];
  return value.split("|").flatMap((part, i) => {
    const kind = parts[i];
    return kind === null || kind === undefined ? [] : [{ ...about, type: kind, value: part }];
  });
}
