import type { JsonObject } from "../../decode/json-body.ts";
import { compileMapping } from "../compile-mapping.ts";
import type { Mapping } from "../mapping.ts";
import { mapRecord, type Preview, previewBody } from "../preview.ts";
import { sourceDecoder } from "../source-decoder.ts";
import { FIELDS, type InferredFieldName } from "./candidates.ts";
import { readHint } from "./hint.ts";
import {
  confidenceIn,
  type Inferred,
  type InferredAlternative,
  type InferredField,
  PREVIEW_MAX_COUNT,
  rounded,
} from "./inferred.ts";
import { collectLeaves, type Leaf } from "./leaves.ts";
import { type Choice, chooseFields, mappingOf, type RequestTemplate, requestTemplate } from "./propose.ts";
import { type Recognised, recognise, recogniseCef } from "./recognise.ts";
import { type SampleRecords, sampleRecords } from "./sample-records.ts";
import { inferText } from "./text-sample.ts";

const ALTERNATIVES_MAX_COUNT = 2;
const UNMAPPED_MAX_COUNT = 100;
/** The message of a request without one. */
const TEMPLATE_CONFIDENCE = 0.75;
/** CEF of a product that no preset is for. */
const CEF_CONFIDENCE = 0.8;
const CEF_FIELDS: readonly (readonly [InferredFieldName, string])[] = [
  ["timestamp", "rt"],
  ["level", "severity"],
  ["message", "msg"],
  ["host", "dvchost"],
];
/** What `inferMapping` is told besides. */
interface InferOptions {
  /** False: as if no preset were known. */
  readonly usePresets?: boolean;
  /** Milliseconds since 1970, for times of CEF without a year. */
  readonly now?: () => number;
}

/**
 * Proposes a mapping for what a sample shows: an object, an array, an envelope around an array of records, or a text
 * with JSON, lines of it, CEF, or lines of text. The hint may name the product or a preset, and say "time is in field x". Looks at the
 * first records only, asks nobody, answers the same to the same, and throws for nothing.
 */
export function inferMapping(sample: unknown, hint?: string, options: InferOptions = {}): Inferred {
  const { usePresets = true, now = Date.now } = options;
  const found = sampleRecords(sample);
  if (found.format === "cef") return inferCef(found.lines, usePresets ? (hint ?? "") : null, now);
  if (found.format === "text") return inferText(found.lines, now);
  const leaves = collectLeaves(found.records);
  const choices = chooseFields(leaves, readHint(hint ?? "", leaves));
  const recognised = usePresets ? recognise(found.records, hint ?? "") : [];
  const [best] = recognised;
  if (best === undefined) return ofChoices(found, leaves, choices);
  return ofPreset(found, leaves, choices, best, recognised.slice(1));
}

function ofChoices(found: SampleRecords, leaves: readonly Leaf[], choices: readonly Choice[]): Inferred {
  const message = choices.find(({ field }) => field === "message");
  const template = message === undefined ? null : requestTemplate(leaves, message);
  const mapping: Mapping = { ...shapeOf(found), ...mappingOf(choices, template) };
  const fields = choices.map((choice) => inferredField(choice, template));
  return {
    format: found.format,
    mapping,
    preset: null,
    confidence: found.records.length === 0 ? 0 : confidenceIn(fields),
    fields,
    preview: previewOf(mapping, found.records),
    alternatives: choices.flatMap(({ field, others }) =>
      others.slice(0, ALTERNATIVES_MAX_COUNT).map(({ leaf, score }) => alternative(field, leaf.path, score)),
    ),
    unmapped: unmappedBy(mapping, leaves),
  };
}

/** The preset's mapping, with what the hint says about single fields. */
function ofPreset(
  found: SampleRecords,
  leaves: readonly Leaf[],
  choices: readonly Choice[],
  { preset, confidence }: Recognised,
  others: readonly Recognised[],
): Inferred {
  const hinted = choices.filter(({ isHinted }) => isHinted);
  const { timestamp = preset.mapping.timestamp, fields } = mappingOf(hinted, null);
  // A sample by itself does not show that its sender sends lines; one of several lines does, or that it does not.
  const format = found.isOneLine ? preset.format : found.format;
  const mapping: Mapping = {
    ...preset.mapping,
    ...shapeOf({ ...found, format }),
    ...(timestamp === undefined ? {} : { timestamp }),
    fields: { ...preset.mapping.fields, ...fields },
  };
  const reason = `the records look like ${preset.title}, whose fields are known`;
  return {
    format,
    mapping,
    preset: preset.name,
    confidence: rounded(confidence),
    fields: FIELDS.map((field): InferredField => {
      const hint = hinted.find((choice) => choice.field === field);
      if (hint !== undefined) return inferredField(hint, null);
      const from = sourceOf(field, mapping);
      return {
        field,
        from,
        confidence: rounded(confidence),
        reason: from === null ? `${reason}: it has none` : reason,
      };
    }),
    preview: previewOf(mapping, found.records),
    alternatives: others
      .slice(0, ALTERNATIVES_MAX_COUNT)
      .map((other) => alternative("preset", other.preset.name, other.confidence)),
    unmapped: unmappedBy(mapping, leaves),
  };
}

/** CEF names its fields itself; only the product remains to be found. `hint` null leaves the presets out. */
function inferCef(lines: readonly string[], hint: string | null, now: () => number): Inferred {
  const [best, ...others] = hint === null ? [] : recogniseCef(lines, hint);
  const mapping = best?.preset.mapping ?? { format: "cef" };
  const confidence = rounded(best?.confidence ?? CEF_CONFIDENCE);
  const body = new TextEncoder().encode(lines.slice(0, PREVIEW_MAX_COUNT).join("\n"));
  return {
    format: "cef",
    mapping,
    preset: best?.preset.name ?? null,
    confidence,
    fields: CEF_FIELDS.map(([field, from]) => ({
      field,
      from,
      confidence,
      reason: "the standard names this field",
    })),
    preview: previewBody(sourceDecoder({ format: "cef", mapping, learning: false, now }), body),
    alternatives: others
      .slice(0, ALTERNATIVES_MAX_COUNT)
      .map((other) => alternative("preset", other.preset.name, other.confidence)),
    unmapped: [],
  };
}

function shapeOf({ format, recordsPath }: SampleRecords): Mapping {
  return recordsPath === null ? { format } : { format, records: recordsPath };
}

function inferredField(choice: Choice, template: RequestTemplate | null): InferredField {
  const { field, candidate, constant, confidence, reason } = choice;
  if (field === "message" && template !== null)
    return {
      field,
      from: template.template,
      confidence: TEMPLATE_CONFIDENCE,
      reason: "no field holds a message, and the method and the path say what happened",
    };
  return { field, from: constant ?? candidate?.leaf.path ?? null, confidence: rounded(confidence), reason };
}

/** Where a mapping takes a field from, for people. */
function sourceOf(field: InferredFieldName, { timestamp, fields, messageTemplate }: Mapping): string | null {
  if (field === "timestamp") return timestamp?.from ?? null;
  const mapped = fields?.[field];
  const otherwise = field === "message" ? (messageTemplate ?? null) : null;
  return mapped?.from ?? (mapped?.const === undefined ? otherwise : String(mapped.const));
}

function previewOf(mapping: Mapping, records: readonly JsonObject[]): Preview[] {
  const map = compileMapping(mapping);
  return records.slice(0, PREVIEW_MAX_COUNT).map((record) => mapRecord(map, record));
}

function unmappedBy({ timestamp, fields }: Mapping, leaves: readonly Leaf[]): string[] {
  const used = new Set<string | undefined>();
  for (const { from, fromDefault } of [timestamp, ...Object.values(fields ?? {})].filter(
    (one) => one !== undefined,
  ))
    used.add(from).add(fromDefault);
  return leaves.flatMap(({ path }) => (used.has(path) ? [] : [path])).slice(0, UNMAPPED_MAX_COUNT);
}

function alternative(
  field: InferredAlternative["field"],
  from: string,
  confidence: number,
): InferredAlternative {
  return { field, from, confidence: rounded(Math.min(confidence, 1)) };
}
