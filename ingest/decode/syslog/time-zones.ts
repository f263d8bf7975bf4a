const HOUR = 3600;

/**
 * Abbreviations that devices write behind a time, in seconds east of UTC. Several are used for more than one zone;
 * those stand for the one that logs have most often (CST is North America's, IST India's, BST Britain's).
 */
const ABBREVIATIONS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...zones(0, "UTC", "GMT", "UCT", "Z", "WET"),
    ...zones(1, "CET", "BST", "WEST", "WAT", "MEZ"),
    ...zones(2, "CEST", "EET", "SAST", "CAT", "MESZ"),
    ...zones(3, "EEST", "MSK", "EAT", "TRT"),
    ...zones(3.5, "IRST"),
    ...zones(4, "GST", "SAMT"),
    ...zones(5, "PKT", "UZT"),
    ...zones(5.5, "IST"),
    ...zones(5.75, "NPT"),
    ...zones(7, "ICT", "WIB"),
    ...zones(8, "SGT", "HKT", "PHT", "AWST", "MYT"),
    ...zones(9, "JST", "KST"),
    ...zones(9.5, "ACST"),
    ...zones(10, "AEST"),
    ...zones(10.5, "ACDT"),
    ...zones(11, "AEDT"),
    ...zones(12, "NZST"),
    ...zones(13, "NZDT"),
    ...zones(-2.5, "NDT"),
    ...zones(-3, "ADT", "BRT", "ART"),
    ...zones(-3.5, "NST"),
    ...zones(-4, "AST", "EDT", "CLT"),
    ...zones(-5, "EST", "CDT", "PET", "COT"),
    ...zones(-6, "CST", "MDT"),
    ...zones(-7, "MST", "PDT"),
    ...zones(-8, "PST", "AKDT"),
    ...zones(-9, "AKST"),
    ...zones(-10, "HST"),
  }),
);

const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$/;
const MAX_HOURS = 14;
const MAX_MINUTES = 59;

/** The latest zone and what it is, as the lines of a log nearly all name the same. */
let latestZone = "UTC";
let latestOffset: number | null = 0;

/** Seconds east of UTC of an abbreviation (`CEST`) or an offset (`+02:00`, `GMT-3`); null when it is neither. */
export function zoneOffset(zone: string): number | null {
  if (zone !== latestZone) {
    latestOffset = offsetOf(zone);
    latestZone = zone;
  }
  return latestOffset;
}

function offsetOf(zone: string): number | null {
  const known = ABBREVIATIONS.get(zone.toUpperCase());
  if (known !== undefined) return known;
  const [, sign, hours = "", minutes = "0"] = OFFSET.exec(zone) ?? [];
  if (sign === undefined || Number(hours) > MAX_HOURS || Number(minutes) > MAX_MINUTES) return null;
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * 60);
}

function zones(hours: number, ...names: string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, hours * HOUR]));
}
