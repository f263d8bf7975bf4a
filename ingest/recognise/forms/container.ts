import { type JsonObject, numberText } from "../../decode/json-body.ts";
import { type LineContext, matchAt, type TimedForm } from "../line-form.ts";
import { ATTRIBUTE, plainReading, type Reading } from "../reading.ts";
import type { Instant } from "../time/line-clock.ts";

const CRI = / (stdout|stderr) ([FP])(?::\S*)? /y;

/** `2016-10-06T00:17:09.669794202Z stdout F ...`, as container runtimes write for Kubernetes. */
export const CRI_FORM: TimedForm = {
  name: "cri",
  read: (text, head, context) => {
    const match = matchAt(CRI, text, head.end);
    if (match === null || !head.hasZone) return null;
    const [whole, stream = "", tag] = match;
    const reading = wrapped("cri", text.slice(head.end + whole.length), head.instant, context);
    reading.attributes.set(ATTRIBUTE.stream, stream);
    reading.stream = stream;
    reading.isPartial = tag === "P";
    return reading;
  },
};

/** A line of Docker's json-file driver; null for any other object. */
export function readDocker(object: JsonObject, context: LineContext): Reading | null {
  const { log, stream, time, attrs } = object;
  if (typeof log !== "string" || (stream !== "stdout" && stream !== "stderr") || typeof time !== "string")
    return null;
  if (!Object.keys(object).every((key) => DOCKER_KEYS.has(key))) return null;
  const instant = context.clock.read(time, 0);
  if (instant === null) return null;
  const isWhole = log.endsWith("\n");
  const reading = wrapped("docker", isWhole ? log.replace(/\r?\n$/, "") : log, instant, context);
  reading.attributes.set(ATTRIBUTE.stream, stream);
  reading.stream = stream;
  reading.isPartial = !isWhole;
  if (typeof attrs === "object" && attrs !== null)
    for (const [key, value] of Object.entries(attrs))
      reading.attributes.set(
        `docker.${key}`,
        typeof value === "string" ? value : (numberText(value) ?? JSON.stringify(value)),
      );
  return reading;
}

const DOCKER_KEYS = new Set(["log", "stream", "time", "attrs"]);

/** The line inside with the time of its wrapping, unless it says its own together with the zone. */
function wrapped(form: string, line: string, instant: Instant, context: LineContext): Reading {
  const { clock } = context;
  const guessed = clock.withoutZone + clock.withoutYear;
  const reading = context.inner(line, true) ?? plainReading(line);
  reading.form = reading.form === "plain" ? form : `${form} ${reading.form}`;
  const isGuessed = clock.withoutZone + clock.withoutYear > guessed;
  if (reading.time === null || isGuessed) reading.time = instant;
  reading.isTimed = false;
  return reading;
}
