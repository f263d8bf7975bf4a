import { isJsonObject, type JsonObject, tryParseJson } from "../../decode/json-body.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import { type CompiledMapping, compileMapping } from "../../mapping/compile-mapping.ts";
import { presetFor } from "../../mapping/infer/recognise.ts";
import type { Preset } from "../../mapping/presets/preset.ts";
import { writeJsonRecord } from "../../record/json-record.ts";
import { levelOfText } from "../../record/levels.ts";
import type { LineContext, LineForm } from "../line-form.ts";
import { ATTRIBUTE, Reading } from "../reading.ts";
import { ReadingFields } from "../reading-fields.ts";
import { readDocker } from "./container.ts";

/** Fields of an entry of the product itself, as it is exported. */
const NATIVE_KEYS = new Set(["message", "ts", "level", "service", "source", "host", "attrs"]);
/** Source: MongoDB manual, structured logging: s is the severity, c the component, ctx the thread. */
const MONGO_SEVERITY = /^(?:[FEWI]|D[1-5]?)$/;

/** An object a line: of any logger that a preset is for, of Docker, or with the well-known keys. */
export const JSON_FORM: LineForm = {
  name: "json",
  read: (text, context) => {
    if (text.charCodeAt(text.trimEnd().length - 1) !== CLOSE_BRACE) return null;
    const parsed = tryParseJson(text, JSON_MAX_DEPTH);
    if (!parsed.ok || !isJsonObject(parsed.value)) return null;
    const object = parsed.value;
    for (const _ in object)
      return (
        readDocker(object, context) ??
        readMongo(object, context) ??
        readNative(object, context) ??
        readAny(object, text, context)
      );
    return null;
  },
};

const CLOSE_BRACE = 0x7d;

function readMongo(object: JsonObject, { clock }: LineContext): Reading | null {
  const { t, s, c, ctx, msg } = object;
  if (!isJsonObject(t) || typeof t.$date !== "string" || typeof s !== "string" || !MONGO_SEVERITY.test(s))
    return null;
  if (typeof msg !== "string") return null;
  const reading = new Reading("mongodb", msg);
  const { t: _t, s: _s, c: _c, ctx: _ctx, msg: _msg, attr, ...rest } = object;
  const fields = new ReadingFields(reading, clock);
  if (!fields.timeIso(t.$date)) return null;
  reading.setLevel(s.charAt(0));
  if (typeof c === "string") reading.set(ATTRIBUTE.logger, c);
  if (typeof ctx === "string") reading.set("thread.name", ctx);
  if (isJsonObject(attr)) fields.attributes("", attr);
  else fields.attribute("attr", attr);
  fields.attributes("", rest);
  return reading;
}

function readNative(object: JsonObject, { clock }: LineContext): Reading | null {
  const { message, ts, level, attrs = {} } = object;
  if (typeof message !== "string" || message === "" || !isJsonObject(attrs)) return null;
  if (!Object.hasOwn(object, "attrs") || !Object.keys(object).every((key) => NATIVE_KEYS.has(key)))
    return null;
  const reading = new Reading("obs", message);
  const fields = new ReadingFields(reading, clock);
  const { message: _message, attrs: _attrs, ...rest } = object;
  if (level !== undefined && (typeof level !== "string" || levelOfText(level) === null)) return null;
  fields.message(message);
  writeJsonRecord(fields, ts === undefined ? rest : { ...rest, ts }, new Set(["message"]));
  for (const key of Object.keys(attrs)) fields.attribute(key, attrs[key]);
  return reading;
}

/** With the preset of its logger, if there is one, else by the well-known keys. */
function readAny(object: JsonObject, text: string, { clock }: LineContext): Reading {
  const preset = presetFor(object);
  if (preset !== null) {
    const reading = new Reading(preset.name, "");
    if (mappingOf(preset)(object, new ReadingFields(reading, clock)) === null && reading.message !== "")
      return reading;
  }
  const reading = new Reading("json", "");
  writeJsonRecord(new ReadingFields(reading, clock), object);
  // An object without a message is its own, as it was written.
  if (reading.message.startsWith("{") && reading.message === JSON.stringify(object)) reading.message = text;
  return reading;
}

const COMPILED = new Map<Preset, CompiledMapping>();

function mappingOf(preset: Preset): CompiledMapping {
  const known = COMPILED.get(preset);
  if (known !== undefined) return known;
  const compiled = compileMapping(preset.mapping);
  COMPILED.set(preset, compiled);
  return compiled;
}
