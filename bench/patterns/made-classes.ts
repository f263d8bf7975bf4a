/** Made systems for what is hard: names in two places at once, two or three words in one place, lists with another sign at their end, codes. */
import { address, clock, type Draw, type Event, hex, number, person, pick, target } from "./made-systems.ts";

const city = pick("Bergen", "Oslo", "Turku", "Riga", "Gdansk", "Kiel");
const rail = pick("north", "south", "middle");
const list = (draw: Draw, most: number, separator: string, last: string, member: (draw: Draw) => string) => {
  const members = Array.from({ length: draw(most) + 1 }, () => member(draw));
  const end = members.pop() ?? "";
  return members.length === 0 ? end : `${members.join(separator)}${last}${end}`;
};

/** Those that the rules for such classes were written with in view. */
export const CLASS_SYSTEMS: Readonly<Record<string, readonly Event[]>> = {
  "freight exchange": [
    [400, (d) => `offer ${hex(d)} from ${city(d)} to ${city(d)} accepted by broker ${number(d)}`],
    [300, (d) => `load moved over the ${rail(d)} rail by ${person(d)} in ${d(90)} min`],
    [200, (d) => `carrier ${target(d)} quoted ${d(900)} EUR, mode=${pick("road", "rail")(d)} axle=${d(9)}`],
    [150, (d) => `crane ${pick("port", "starboard")(d)} lifted container ${number(d)} for ${clock(d)}`],
    [100, (d) => `stops: ${list(d, 5, ", ", ", ", (e) => `dock-${e(90)} ${e(60)} (open)`)}`],
    [
      80,
      (d) => `lorry ${pick("KI", "HH", "OS")(d)}-${pick("AB", "CD", "EF")(d)} weighed at ${d(40)}.${d(9)} t`,
    ],
    [20, (d) => `manager ${person(d)} handed dossier ${number(d)} over to ${person(d)}`],
    [3, () => "exchange opened"],
    [3, () => "exchange closed"],
  ],
  theatre: [
    [400, (d) => `spot ${d(60)} set to ${pick("amber", "blue")(d)} by console ${d(4)} at cue ${number(d)}`],
    [
      300,
      (d) =>
        `actor ${pick("Faust", "Lulu", "Medea", "Hamlet")(d)} called to ${pick("stage", "mask", "fitting")(d)} by ${d(5)} pages`,
    ],
    [
      200,
      (d) => `seat ${d(30)} in row ${d(20)} sold (${pick("card", "cash", "voucher")(d)}) to guest ${hex(d)}`,
    ],
    [150, (d) => `curtain motor ${d(4)}: torque=${d(99)} side=${pick("left", "right")(d)} temp=${d(80)}`],
    [100, (d) => `effects ready: ${list(d, 4, "; ", " and ", (e) => `fog-${e(9)} ${e(100)}% armed`)}`],
    [60, (d) => `ticket desk ${target(d)} answered in ${clock(d)}`],
    [60, (d) => `usher ${person(d)} entered the hall at ${d(24)}:${d(50) + 10}`],
    [60, (d) => `usher ${person(d)} left the hall at ${d(24)}:${d(50) + 10}`],
    [2, () => "fire curtain lowered"],
    [2, () => "fire curtain raised"],
  ],
  "blood bank": [
    [400, (d) => `unit ${number(d)} of group ${pick("A", "B", "AB", "O")(d)} stored on shelf ${d(80)}`],
    [
      300,
      (d) => `centrifuge ${d(9)} ran ${pick("slow", "fast")(d)} program for ${d(40)} min at ${d(5000)} rpm`,
    ],
    [
      200,
      (d) =>
        `courier took ${d(20)} units from ${pick("depot", "clinic", "lab")(d)} to ${pick("depot", "clinic", "lab", "hospital")(d)} in box ${hex(d)}`,
    ],
    [150, (d) => `fridge ${address(d)} reports door=${pick("open", "shut", "ajar")(d)} temp=${d(9)}.${d(9)}`],
    [100, (d) => `tests of ${number(d)}: ${list(d, 5, ", ", ", ", (e) => `assay-${e(40)} <neg>`)}`],
    [40, (d) => `nurse ${person(d)} countersigned for ${person(d)} on form ${number(d)}`],
    [20, (d) => `label printer ${d(4)} is out of paper`],
    [2, () => "cold chain intact"],
    [2, () => "cold chain broken"],
  ],
};

/** Written with those above, before any rule for them, and looked at once behind the last. */
export const HELD_SYSTEMS: Readonly<Record<string, readonly Event[]>> = {
  "lock and canal": [
    [400, (d) => `barge ${number(d)} enters the ${pick("upper", "lower")(d)} chamber at level ${d(900)} cm`],
    [
      300,
      (d) =>
        `passage from ${pick("Ems", "Weser", "Elbe", "Oder")(d)} to ${pick("Main", "Havel", "Spree", "Saale", "Lahn")(d)} booked under ${hex(d)} for ${d(30)} EUR`,
    ],
    [
      200,
      (d) => `gate ${d(20)} drive: current=${d(90)} phase=${pick("one", "two", "three")(d)} speed=${d(40)}`,
    ],
    [150, (d) => `skipper ${person(d)} relieved ${person(d)} on vessel ${number(d)}`],
    [120, (d) => `gauges: ${list(d, 6, ", ", ", ", (e) => `pegel-${e(99)} ${e(700)} [cm]`)}`],
    [90, (d) => `toll office ${target(d)} confirmed after ${clock(d)}`],
    [60, (d) => `traffic light ${d(30)} shows ${pick("red", "green")(d)} for ${d(90)} s`],
    [30, (d) => `sluice keeper ${person(d)} signed in at post ${d(9)}`],
    [30, (d) => `sluice keeper ${person(d)} signed out at post ${d(9)}`],
    [2, () => "ice warning raised"],
    [2, () => "ice warning lifted"],
  ],
  newsroom: [
    [
      400,
      (d) =>
        `story ${hex(d)} moved from ${pick("draft", "review", "proof")(d)} to ${pick("review", "proof", "print", "archive")(d)} in ${d(90)} ms`,
    ],
    [
      300,
      (d) =>
        `wire ${target(d)} delivered item ${number(d)} (${pick("text", "photo", "video")(d)}) of ${d(900)} kB`,
    ],
    [200, (d) => `editor ${person(d)} locked page ${d(64)} for ${person(d)}`],
    [
      150,
      (d) =>
        `ad slot ${d(40)} sold at ${d(99)}.${d(90) + 10} to ${pick("daily", "weekly")(d)} campaign ${number(d)}`,
    ],
    [120, (d) => `columns set: ${list(d, 5, "; ", "; ", (e) => `col-${e(8)} ${e(60)} lines`)}`],
    [
      100,
      (d) =>
        `press ${d(3)} ink=${pick("cyan", "black", "yellow", "magenta")(d)} level=${d(100)}% paper=${d(9999)}`,
    ],
    [60, (d) => `edition ${pick("NW", "SO")(d)}-${pick("XA", "XB", "XC")(d)} printed in ${d(9)} h`],
    [20, (d) => `archiving ${pick("photos", "drafts", "wires", "comments", "letters")(d)}`],
    [2, () => "press stopped by hand"],
    [2, () => "press started by hand"],
  ],
  "ski resort": [
    [400, (d) => `lift ${pick("Alm", "Gipfel", "Tal")(d)} carried ${d(900)} guests in hour ${d(24)}`],
    [
      300,
      (d) => `gate ${address(d)} read pass ${hex(d)}: zone ${pick("east", "west")(d)} valid for ${d(9)} days`,
    ],
    [200, (d) => `snow gun ${d(80)} wind=${d(40)} mode=${pick("auto", "hand")(d)} water=${d(300)}`],
    [
      150,
      (d) =>
        `patrol ${person(d)} closed slope ${pick("blue", "red", "black")(d)} because of ${pick("fog", "ice", "wind", "avalanche")(d)} until ${clock(d)}`,
    ],
    [100, (d) => `cabins checked: ${list(d, 6, ", ", " and ", (e) => `cab-${e(90)} ${e(9)} seats`)}`],
    [60, (d) => `groomer ${d(12)} refuelled by ${person(d)} with ${d(300)} l`],
    [40, (d) => `instructor ${person(d)} swapped class ${d(40)} with ${person(d)}`],
    [30, (d) => `cable tension on mast ${d(30)} is high`],
    [30, (d) => `cable tension on mast ${d(30)} is low`],
    [2, () => "avalanche bulletin loaded"],
  ],
};
