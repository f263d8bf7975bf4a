import { daysFromEpoch, daysInMonth, subSecondDigits } from "../../timestamp.ts";
import { digitAt, numberAt } from "./digits.ts";
import { monthAtOf } from "./months.ts";
import { ZoneText } from "./zone-text.ts";

const WEEKDAY = /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +/y;
const YEAR_BEHIND = / (\d{4})(?![\d:.-])/y;
const HALF_DAY = / ?([AP]M)\b/y;
const EPOCH = /(\d{10}|\d{13}|\d{16}|\d{19})(?:\.(\d{1,9}))?(?=[\s|,\]]|$)/y;
/** 2001-09-09 and 2100: numbers of ten digits outside are no times of logs. */
const EPOCH_MIN_SECONDS = 1_000_000_000;
const EPOCH_MAX_SECONDS = 4_102_444_800;
const DAY_SECONDS = 86_400;
const NANO_DIGITS = 9;

const SPACE = 0x20;
const DASH = 0x2d;
const SLASH = 0x2f;
const DOT = 0x2e;
const COMMA = 0x2c;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_A = 0x41;
const LETTER_P = 0x50;

/**
 * Reads times in the forms in which logs write them. After `read` answered true the fields below hold what was found; a
 * form that can be read in two ways (`01/02/2026`) is none.
 */
export class StampReader {
  /** Seconds since 1970 of what the clock showed, as if it were UTC; in any year where none is given. */
  clockSeconds = 0;
  nanos = 0;
  /** Seconds east of UTC; null when the text does not say. */
  east: number | null = null;
  hasYear = true;
  /** Of a time without a year. */
  month = 0;
  day = 0;
  /** Seconds since midnight. */
  ofDay = 0;
  /** The date and the time stand together around a `T`, as machines write it. */
  isMachine = false;
  /** With AM or PM, as no daemon writes it. */
  isHalfDay = false;
  /** A number of seconds or less, without a fraction: a count of anything looks the same. */
  isWholeNumber = false;
  end = 0;
  readonly #zone = new ZoneText();

  read(text: string, at: number): boolean {
    this.hasYear = true;
    this.isMachine = false;
    this.isWholeNumber = false;
    this.isHalfDay = false;
    this.nanos = 0;
    this.east = null;
    const unit = text.charCodeAt(at);
    if (unit >= 0x30 && unit <= 0x39) return this.#readFromDigit(text, at);
    if (unit < 0x41 || unit > 0x5a) return false;
    WEEKDAY.lastIndex = at;
    const weekday = WEEKDAY.exec(text);
    if (weekday === null) return this.#readMonthFirst(text, at);
    const from = at + weekday[0].length;
    return digitAt(text, from) >= 0 ? this.#readDayFirst(text, from) : this.#readMonthFirst(text, from);
  }

  /** `MMdd hh:mm:ss.ffffff`, the time of glog, which the letter of the level stands in front of. */
  readGlog(text: string, at: number): boolean {
    this.nanos = 0;
    this.east = null;
    this.isMachine = false;
    const withYear = digitAt(text, at + 4) >= 0;
    this.hasYear = withYear;
    const from = withYear ? at + 4 : at;
    const year = withYear ? numberAt(text, at, 4) : 0;
    if (text.charCodeAt(from + 4) !== SPACE) return false;
    return (
      this.#readClock(text, from + 5) &&
      this.#date(year, numberAt(text, from, 2), numberAt(text, from + 2, 2))
    );
  }

  #readFromDigit(text: string, at: number): boolean {
    let digits = 1;
    while (digits < 20 && digitAt(text, at + digits) >= 0) digits++;
    const behind = text.charCodeAt(at + digits);
    switch (digits) {
      case 4:
        return behind === DASH || behind === SLASH || behind === DOT
          ? this.#readYearFirst(text, at, behind)
          : false;
      case 8:
        return behind === LETTER_T || behind === DASH ? this.#readCompact(text, at) : false;
      case 6:
        return behind === SPACE ? this.#readShort(text, at) : false;
      case 2:
        if (behind === DASH && digitAt(text, at + 3) >= 0) return this.#readMonthDay(text, at);
        return this.#readDayFirst(text, at);
      case 1:
        return this.#readDayFirst(text, at);
      case 10:
      case 13:
      case 16:
      case 19:
        return this.#readEpoch(text, at);
      default:
        return false;
    }
  }

  /** `2026-01-02T03:04:05.678+01:00` and everything like it. */
  #readYearFirst(text: string, at: number, separator: number): boolean {
    if (text.charCodeAt(at + 7) !== separator) return false;
    let clockAt = at + 11;
    const between = text.charCodeAt(at + 10);
    if (between === LETTER_T || between === 0x74) this.isMachine = true;
    else if (between !== SPACE && between !== COLON && between !== DASH) return false;
    // MariaDB fills the hour up with a blank.
    else if (between === SPACE && text.charCodeAt(clockAt) === SPACE) clockAt++;
    if (!this.#readClock(text, clockAt)) return false;
    this.#readZone(text);
    return this.#date(numberAt(text, at, 4), numberAt(text, at + 5, 2), numberAt(text, at + 8, 2));
  }

  /** `20260102T030405Z`, `20260102-03:04:05:678`. */
  #readCompact(text: string, at: number): boolean {
    this.isMachine = text.charCodeAt(at + 8) === LETTER_T;
    const clockAt = at + 9;
    const hasColons = text.charCodeAt(clockAt + 2) === COLON;
    if (!(hasColons ? this.#readClock(text, clockAt) : this.#readPlainClock(text, clockAt))) return false;
    this.#readZone(text);
    return this.#date(numberAt(text, at, 4), numberAt(text, at + 4, 2), numberAt(text, at + 6, 2));
  }

  /** `081109 203518` and `081109 20:35:18`, of a year in this century. */
  #readShort(text: string, at: number): boolean {
    const hasColons = text.charCodeAt(at + 9) === COLON || text.charCodeAt(at + 8) === COLON;
    const clockAt = text.charCodeAt(at + 7) === SPACE ? at + 8 : at + 7;
    if (!(hasColons ? this.#readClock(text, clockAt) : this.#readPlainClock(text, clockAt))) return false;
    return this.#date(2000 + numberAt(text, at, 2), numberAt(text, at + 2, 2), numberAt(text, at + 4, 2));
  }

  /** `03-17 16:13:38.811` */
  #readMonthDay(text: string, at: number): boolean {
    if (text.charCodeAt(at + 5) !== SPACE || !this.#readClock(text, at + 6)) return false;
    // Without a fraction it may as well be a day and a month.
    if (digitAt(text, at + 15) < 0) return false;
    this.hasYear = false;
    return this.#date(0, numberAt(text, at, 2), numberAt(text, at + 3, 2));
  }

  /** `02/Jan/2026:03:04:05 +0100`, `2 Jan 2026 03:04:05`, `02-Jan-2026 03:04:05.678`. */
  #readDayFirst(text: string, at: number): boolean {
    const dayDigits = digitAt(text, at + 1) >= 0 ? 2 : 1;
    const monthAt = at + dayDigits + 1;
    const separator = text.charCodeAt(monthAt - 1);
    if (separator !== SPACE && separator !== DASH && separator !== SLASH) return false;
    const month = monthAtOf(text, monthAt);
    if (month === 0 || text.charCodeAt(monthAt + 3) !== separator) return false;
    const between = text.charCodeAt(monthAt + 8);
    if (between !== SPACE && between !== COLON) return false;
    if (!this.#readClock(text, monthAt + 9)) return false;
    this.#readZone(text);
    return this.#date(numberAt(text, monthAt + 4, 4), month, numberAt(text, at, dayDigits));
  }

  /** `Jan  2 03:04:05`, also with a fraction, the year in front of the time or behind it, and half days. */
  #readMonthFirst(text: string, at: number): boolean {
    const month = monthAtOf(text, at);
    if (month === 0 || text.charCodeAt(at + 3) !== SPACE) return false;
    let from = at + 4;
    if (text.charCodeAt(from) === SPACE) from++;
    const dayDigits = digitAt(text, from + 1) >= 0 ? 2 : 1;
    const day = numberAt(text, from, dayDigits);
    from += dayDigits;
    let year = -1;
    if (text.charCodeAt(from) === COMMA) from++;
    if (text.charCodeAt(from) !== SPACE) return false;
    if (digitAt(text, from + 4) >= 0 && digitAt(text, from + 3) >= 0) {
      year = numberAt(text, from + 1, 4);
      from += 5;
      if (text.charCodeAt(from) === COMMA) from++;
      if (year < 0 || text.charCodeAt(from) !== SPACE) return false;
    }
    if (!this.#readClock(text, from + 1)) return false;
    if (year < 0) {
      YEAR_BEHIND.lastIndex = this.end;
      const behind = YEAR_BEHIND.exec(text);
      if (behind !== null) {
        year = Number(behind[1]);
        this.end += behind[0].length;
      }
    }
    this.hasYear = year >= 0;
    if (this.hasYear) this.#readZone(text);
    return this.#date(year, month, day);
  }

  #readEpoch(text: string, at: number): boolean {
    EPOCH.lastIndex = at;
    const match = EPOCH.exec(text);
    if (match === null) return false;
    const [whole, digits = "", fraction = ""] = match;
    const sub = subSecondDigits(digits.length);
    const seconds = Number(digits.slice(0, digits.length - sub));
    if (seconds < EPOCH_MIN_SECONDS || seconds >= EPOCH_MAX_SECONDS) return false;
    this.clockSeconds = seconds;
    this.nanos = Number(
      (digits.slice(digits.length - sub) + fraction).padEnd(NANO_DIGITS, "0").slice(0, NANO_DIGITS),
    );
    this.east = 0;
    this.isWholeNumber = fraction === "";
    this.end = at + whole.length;
    return true;
  }

  /** `h:mm:ss` or `hh:mm:ss`, perhaps with a fraction. */
  #readClock(text: string, at: number): boolean {
    const hourDigits = digitAt(text, at + 1) >= 0 ? 2 : 1;
    const minuteAt = at + hourDigits + 1;
    if (text.charCodeAt(minuteAt - 1) !== COLON || text.charCodeAt(minuteAt + 2) !== COLON) return false;
    const minute = numberAt(text, minuteAt, 2);
    const second = numberAt(text, minuteAt + 3, 2);
    this.end = minuteAt + 5;
    if (!this.#clock(numberAt(text, at, hourDigits), minute, second)) return false;
    this.#readFraction(text);
    // More digits than a second has are something else.
    return digitAt(text, this.end) < 0 && this.#readHalfDay(text);
  }

  /** `3:04:05 PM`; false when the hour is none of half a day. */
  #readHalfDay(text: string): boolean {
    const unit = text.charCodeAt(this.end);
    if (unit !== SPACE && unit !== LETTER_A && unit !== LETTER_P) return true;
    HALF_DAY.lastIndex = this.end;
    const half = HALF_DAY.exec(text);
    if (half === null) return true;
    const hour = Math.floor(this.ofDay / 3600);
    if (hour < 1 || hour > 12) return false;
    this.isHalfDay = true;
    this.ofDay += ((hour % 12) + (half[1] === "PM" ? 12 : 0) - hour) * 3600;
    this.end += half[0].length;
    return true;
  }

  #readPlainClock(text: string, at: number): boolean {
    const hour = numberAt(text, at, 2);
    this.end = at + 6;
    if (!this.#clock(hour, numberAt(text, at + 2, 2), numberAt(text, at + 4, 2))) return false;
    this.#readFraction(text);
    return digitAt(text, this.end) < 0;
  }

  #readFraction(text: string): void {
    const separator = text.charCodeAt(this.end);
    if (separator !== DOT && separator !== COMMA && separator !== COLON) return;
    let at = this.end + 1;
    let nanos = 0;
    let scale = 100_000_000;
    for (let digit = digitAt(text, at); digit >= 0; digit = digitAt(text, ++at)) {
      nanos += digit * scale;
      scale = Math.floor(scale / 10);
    }
    const digits = at - this.end - 1;
    // Behind a comma another number may stand in a row of them.
    if (digits === 0 || (separator === COMMA && (digits % 3 !== 0 || text.charCodeAt(at) === COMMA))) return;
    this.nanos = nanos;
    this.end = at;
  }

  #readZone(text: string): void {
    if (!this.#zone.read(text, this.end)) return;
    this.east = this.#zone.east;
    this.end = this.#zone.end;
  }

  #clock(hour: number, minute: number, second: number): boolean {
    if (hour < 0 || minute < 0 || second < 0 || hour > 23 || minute > 59 || second > 60) return false;
    this.ofDay = hour * 3600 + minute * 60 + second;
    return true;
  }

  #date(year: number, month: number, day: number): boolean {
    if (month < 1 || month > 12 || day < 1) return false;
    this.month = month;
    this.day = day;
    if (!this.hasYear) return day <= (month === 2 ? 29 : daysInMonth(2000, month));
    if (year < 1900 || year > 2261 || day > daysInMonth(year, month)) return false;
    this.clockSeconds = daysFromEpoch(year, month, day) * DAY_SECONDS + this.ofDay;
    return true;
  }
}
