import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import type { FileRow } from "./file-row.ts";
import { listMember, member, textMember } from "./json-member.ts";

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
export function mispRows(json: unknown): FileRow[] {
  const response = member(json, "response");
  if (Array.isArray(json)) return eventsIn(json, "");
  if (Array.isArray(response)) return eventsIn(response, "/response");
  if (response !== undefined) return attributesIn(response, "/response", undefined);
  if (member(json, "Event") !== undefined) return eventsIn([json], null);
  throw new FileProblem("The file is no JSON of MISP: it has neither Event nor response.");
}

function eventsIn(events: readonly unknown[], path: string | null): FileRow[] {
  return events.flatMap((each, i) => {
    const event = member(each, "Event") ?? each;
    const place = path === null ? "/Event" : `${path}/${i}/Event`;
    const source = textMember(event, "info");
    const objects = listMember(event, "Object");
    return [
      ...attributesIn(event, place, source),
      ...objects.flatMap((object, o) => attributesIn(object, `${place}/Object/${o}`, source)),
    ];
  });
}

function attributesIn(holder: unknown, path: string, source: string | undefined): FileRow[] {
  return listMember(holder, "Attribute").flatMap((attribute, i) =>
    rowsOf(attribute, `${path}/Attribute/${i}`, source),
  );
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
