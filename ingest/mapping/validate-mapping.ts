import type { IngestIssue } from "../errors.ts";
import { ATTRIBUTE_KEY_MAX_CHARS } from "../limits.ts";
import { LocalZone } from "../recognise/time/local-zone.ts";
import { levelOfText } from "../record/levels.ts";
import {
  entryFieldOf,
  FIELDS_MAX_COUNT,
  type FieldMapping,
  MAPPING_MAX_BYTES,
  MAPPING_MAX_SEGMENTS,
  type Mapping,
} from "./mapping.ts";
import { parsePath } from "./path.ts";
import { parseTemplate } from "./template.ts";

const PATH_RULE =
  "must be a path of at most 512 characters and 32 segments, such as `request.headers[0].name`; `\\.` is a dot inside a key";
const ZONE_RULE = "must be an offset such as `+02:00` or a time zone such as `Europe/Berlin`";
const TEMPLATE_RULE =
  "must be a text of at most 2048 characters with paths in braces, such as `{request.method} {request.path}`; `{{` is a brace";

/** What is wrong with a mapping beyond its types; paths of the issues are JSON pointers into it. */
export function mappingIssues(mapping: Mapping): IngestIssue[] {
  if (Buffer.byteLength(JSON.stringify(mapping)) > MAPPING_MAX_BYTES)
    return [{ path: "", code: "too_big", message: `must take at most ${MAPPING_MAX_BYTES} bytes as JSON` }];
  const { timestamp, records, messageTemplate } = mapping;
  const fields = Object.entries(mapping.fields ?? {});
  const issues: IngestIssue[] = [
    ...pathIssue("/timestamp/from", timestamp?.from),
    ...pathIssue("/timestamp/fromDefault", timestamp?.fromDefault),
    ...pathIssue("/records", records),
    ...zoneIssue(mapping.zone),
  ];
  if (messageTemplate !== undefined && parseTemplate(messageTemplate) === null)
    issues.push({ path: "/messageTemplate", code: "invalid_string", message: TEMPLATE_RULE });
  if (fields.length > FIELDS_MAX_COUNT)
    issues.push({
      path: "/fields",
      code: "too_big",
      message: `must have at most ${FIELDS_MAX_COUNT} fields`,
    });
  if (segmentsOf(mapping) > MAPPING_MAX_SEGMENTS)
    issues.push({
      path: "",
      code: "too_big",
      message: `must have paths of at most ${MAPPING_MAX_SEGMENTS} segments together`,
    });
  for (const [name, field] of fields.slice(0, FIELDS_MAX_COUNT))
    issues.push(...fieldIssues(name, field, fields));
  return issues;
}

/** The segments of the paths that are looked for in every record. */
function segmentsOf({ timestamp, fields, messageTemplate }: Mapping): number {
  const froms = [timestamp, ...Object.values(fields ?? {})].flatMap((one) => [one?.from, one?.fromDefault]);
  const paths = froms.flatMap((path) => (path === undefined ? [] : [parsePath(path)]));
  const shown = parseTemplate(messageTemplate ?? "") ?? [];
  const ofTemplate = shown.filter((part) => typeof part !== "string");
  return [...paths, ...ofTemplate].reduce((sum, segments) => sum + (segments?.length ?? 0), 0);
}

function fieldIssues(
  name: string,
  field: FieldMapping,
  fields: readonly (readonly [string, FieldMapping])[],
): IngestIssue[] {
  const at = `/fields/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const issues = [
    ...pathIssue(`${at}/from`, field.from),
    ...pathIssue(`${at}/fromDefault`, field.fromDefault),
  ];
  if (name === "" || [...name].length > ATTRIBUTE_KEY_MAX_CHARS)
    issues.push({
      path: at,
      code: "invalid_string",
      message: `must be named with 1 to ${ATTRIBUTE_KEY_MAX_CHARS} characters`,
    });
  if (
    field.from === undefined &&
    field.fromDefault === undefined &&
    field.const === undefined &&
    field.default === undefined
  )
    issues.push({
      path: at,
      code: "custom",
      message: "must say where its value comes from: from, fromDefault, const or default",
    });
  const entryField = entryFieldOf(name);
  const twin = fields.find(
    ([other]) => entryField !== null && other !== name && entryFieldOf(other) === entryField,
  );
  if (twin !== undefined)
    issues.push({ path: at, code: "custom", message: `names the same field of the entry as ${twin[0]}` });
  if (entryField === "level") issues.push(...levelIssues(at, field));
  return issues;
}

/** Levels that are written down in a mapping must be levels; those of records need not. */
function levelIssues(at: string, field: FieldMapping): IngestIssue[] {
  const levels: [string, string | undefined][] = [
    ["const", textOrNothing(field.const)],
    ["default", textOrNothing(field.default)],
    ...Object.entries(field.map ?? {}).map(([text, level]): [string, string] => [
      `map/${text.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      level,
    ]),
  ];
  return levels.flatMap(([key, level]) =>
    level === undefined || levelOfText(level) !== null
      ? []
      : [
          {
            path: `${at}/${key}`,
            code: "invalid_literal" as const,
            message: "must be a level: trace, debug, info, warn, error or fatal",
          },
        ],
  );
}

function zoneIssue(zone: string | undefined): IngestIssue[] {
  if (zone === undefined || LocalZone.of(zone) !== null) return [];
  return [{ path: "/zone", code: "invalid_string", message: ZONE_RULE }];
}

function textOrNothing(value: FieldMapping["const"]): string | undefined {
  return value === undefined ? undefined : String(value);
}

function pathIssue(at: string, path: string | undefined): IngestIssue[] {
  if (path === undefined || parsePath(path) !== null) return [];
  return [{ path: at, code: "invalid_string", message: PATH_RULE }];
}
