import { ACCESS_FORMS, ENVOY_FORM } from "./forms/access.ts";
import { CRI_FORM } from "./forms/container.ts";
import { JSON_FORM } from "./forms/json.ts";
import { LETTERED_FORMS, LEVELLED_FORM } from "./forms/lettered.ts";
import { LOGFMT_FORM } from "./forms/logfmt.ts";
import { STAMPED_FORMS } from "./forms/stamped.ts";
import { PRIORITY_FORM, SYSLOG_FORM } from "./forms/syslog.ts";
import { W3C_FORM } from "./forms/w3c.ts";
import { NESTED_MAX_DEPTH } from "./limits.ts";
import type { HeadTime, LineContext, LineForm, TimedForm } from "./line-form.ts";
import { ATTRIBUTE, type Reading } from "./reading.ts";
import type { LineClock } from "./time/line-clock.ts";

/** What is looked for behind a time, the most telling first, the form that takes anything last. */
const TIMED_FORMS: readonly TimedForm[] = [
  CRI_FORM,
  ENVOY_FORM,
  ...STAMPED_FORMS.slice(0, 2),
  SYSLOG_FORM,
  ...STAMPED_FORMS.slice(2),
];
/** What lines without a time in front can be, by their first character. */
const OBJECT_FORMS: readonly LineForm[] = [JSON_FORM];
const PRIORITY_FORMS: readonly LineForm[] = [PRIORITY_FORM];
const DIGIT_FORMS: readonly LineForm[] = [...ACCESS_FORMS, ...LETTERED_FORMS, PRIORITY_FORM];
const BRACKET_FORMS: readonly LineForm[] = [...LETTERED_FORMS, LEVELLED_FORM, ...ACCESS_FORMS];
const LETTER_FORMS: readonly LineForm[] = [...LETTERED_FORMS, LOGFMT_FORM, LEVELLED_FORM, ...ACCESS_FORMS];
const OTHER_FORMS: readonly LineForm[] = [...ACCESS_FORMS, LOGFMT_FORM];
const DIRECTIVE_FORMS: readonly LineForm[] = [W3C_FORM];

/** The name of a file in front of a line, as tools that read several put it there. */
const FILE_PREFIXES = [/^(\S*\.log\S*) (?=[\d[A-Z])/, /^([^\s:]*\.log[^\s:]*):(?=[\d[A-Z])/];
/** The name of a service in front of a line, as `docker compose logs` puts it there. */
const SERVICE_PREFIX = /^([\w.-]{1,128}?)\s+\| (?=[{[\dA-Z])/;

const OPEN_BRACKET = 0x5b;

/** Reads lines by themselves: what a line says depends on no other, except for the columns of a W3C log. */
export class LineReader implements LineContext {
  readonly clock: LineClock;
  columns: readonly string[] | null = null;
  needsZone = false;
  #depth = 0;

  constructor(clock: LineClock) {
    this.clock = clock;
  }

  /** Null when nothing is recognised. */
  read(text: string): Reading | null {
    return this.#readFrom(text) ?? this.#readPrefixed(text);
  }

  readonly inner = (text: string, needsZone = this.needsZone): Reading | null => {
    if (this.#depth === NESTED_MAX_DEPTH) return null;
    const outer = this.needsZone;
    this.#depth++;
    this.needsZone = needsZone;
    try {
      return this.#readFrom(text);
    } finally {
      this.#depth--;
      this.needsZone = outer;
    }
  };

  #readFrom(text: string): Reading | null {
    if (this.columns !== null) {
      const row = W3C_FORM.read(text, this);
      if (row !== null) return row;
    }
    const head = this.#headOf(text);
    return head === null ? readWith(formsFor(text), text, this) : this.#readTimed(text, head);
  }

  #readTimed(text: string, head: HeadTime): Reading | null {
    for (const form of TIMED_FORMS) {
      const reading = form.read(text, head, this);
      if (reading !== null) return reading;
    }
    return readWith(formsFor(text), text, this);
  }

  #headOf(text: string): HeadTime | null {
    const isBracketed = text.charCodeAt(0) === OPEN_BRACKET;
    const { stamp } = this.clock;
    if (!stamp.read(text, isBracketed ? 1 : 0)) return null;
    const closes = isBracketed && text[stamp.end] === "]";
    const end = closes ? stamp.end + 1 : stamp.end;
    // A time and nothing else is no log's line, and behind a time nothing goes on without a break.
    if (end === text.length || (!isBracketed && /[\w]/.test(text[end] ?? ""))) return null;
    const instant = this.clock.instant();
    if (instant === null) return null;
    return {
      instant,
      end,
      isOpen: isBracketed && !closes,
      isWholeNumber: stamp.isWholeNumber,
      isHalfDay: stamp.isHalfDay,
      isMachine: stamp.isMachine,
      hasZone: stamp.east !== null,
    };
  }

  /** A line behind the name of its file or service, if it begins with a time or is data. */
  #readPrefixed(text: string): Reading | null {
    for (const pattern of FILE_PREFIXES) {
      const reading = this.#readBehind(pattern.exec(text), text);
      if (reading === null) continue;
      reading.set(ATTRIBUTE.logFile, pattern.exec(text)?.[1]);
      return reading;
    }
    const service = SERVICE_PREFIX.exec(text);
    const reading = this.#readBehind(service, text);
    if (reading !== null) reading.service ??= service?.[1] ?? null;
    return reading;
  }

  #readBehind(prefix: RegExpExecArray | null, text: string): Reading | null {
    const reading = prefix === null ? null : this.inner(text.slice(prefix[0].length));
    return reading === null || (reading.time === null && reading.isText) ? null : reading;
  }
}

function readWith(forms: readonly LineForm[], text: string, context: LineContext): Reading | null {
  for (const form of forms) {
    const reading = form.read(text, context);
    if (reading !== null) return reading;
  }
  return null;
}

function formsFor(text: string): readonly LineForm[] {
  const unit = text.charCodeAt(0);
  if (unit === 0x7b) return OBJECT_FORMS;
  if (unit === 0x3c) return PRIORITY_FORMS;
  if (unit === 0x23) return DIRECTIVE_FORMS;
  if (unit === OPEN_BRACKET) return BRACKET_FORMS;
  if (unit >= 0x30 && unit <= 0x39) return DIGIT_FORMS;
  return (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a ? LETTER_FORMS : OTHER_FORMS;
}
