import { zoneOffset } from "../../decode/syslog/time-zones.ts";

/** Behind a blank the minutes are there, too: anything less may be any number. */
const OFFSET = /(?:(?: ?(?:GMT|UTC))?([+-]\d\d(?::?\d\d)?)| ([+-]\d\d:?\d\d))(?![\d:.-])/y;
const UTC = / ?(?:Z|UTC|GMT)(?![A-Za-z\d+-])/y;
/** An abbreviation counts where only a zone can stand: in front of what closes the time, or of a bracket or a colon. */
const ABBREVIATION = / ([A-Z]{2,5})(?=\]| \[|:)/y;

const SPACE = 0x20;
const DASH = 0x2d;
const PLUS = 0x2b;
const LETTER_G = 0x47;
const LETTER_U = 0x55;
const LETTER_Z = 0x5a;

/** Reads the zone behind a time. After `read` answered true the fields hold what was found. */
export class ZoneText {
  /** Seconds east of UTC. */
  east = 0;
  end = 0;

  read(text: string, at: number): boolean {
    switch (text.charCodeAt(at)) {
      case SPACE:
      case PLUS:
      case DASH:
      case LETTER_G:
      case LETTER_U:
        return this.#readOffset(text, at) || this.#readName(text, at);
      case LETTER_Z:
        return this.#readName(text, at);
      default:
        return false;
    }
  }

  #readOffset(text: string, at: number): boolean {
    OFFSET.lastIndex = at;
    const match = OFFSET.exec(text);
    const east = match === null ? null : zoneOffset(match[1] ?? match[2] ?? "");
    return match !== null && east !== null && this.#found(east, at + match[0].length);
  }

  #readName(text: string, at: number): boolean {
    UTC.lastIndex = at;
    const utc = UTC.exec(text);
    if (utc !== null) return this.#found(0, at + utc[0].length);
    ABBREVIATION.lastIndex = at;
    const abbreviation = ABBREVIATION.exec(text);
    const east = abbreviation === null ? null : zoneOffset(abbreviation[1] ?? "");
    return abbreviation !== null && east !== null && this.#found(east, at + abbreviation[0].length);
  }

  #found(east: number, end: number): boolean {
    this.east = east;
    this.end = end;
    return true;
  }
}
