/**
 * Logs of systems that there are not, with the event of each line: what the miner has not seen when its thresholds were
 * chosen. Each is of another trade and writes values in a way of its own.
 */
import type { LabelledLine } from "./loghub.ts";

export type Draw = (below: number) => number;
/** A text of an event; how often it is written beside the others. */
export type Event = readonly [weight: number, write: (draw: Draw) => string];

const LINES = 2000;

export const pick =
  (...words: readonly string[]) =>
  (draw: Draw) =>
    words[draw(words.length)] ?? "";
export const number = (draw: Draw) => String(draw(100_000));
export const hex = (draw: Draw) => (draw(0xffff_ffff) + 0x1000_0000).toString(16);
export const address = (draw: Draw) => `10.${draw(256)}.${draw(256)}.${draw(256)}`;
export const person = pick(
  ..."anna ben cleo dora emil fritz gina hugo ida jonas karl lena moritz nora".split(" "),
);
/** Mostly names of three labels, seldom of two or of one, as in a network of one's own. */
export const target = (draw: Draw) =>
  `${draw(60) === 0 ? pick("gate", "relay.yard")(draw) : `n${draw(40)}.west.example`}:${draw(9000) + 80}`;
export const clock = (draw: Draw) =>
  draw(80) === 0 ? `${draw(9)}:${draw(50) + 10}:11` : `${draw(50) + 10}:22`;

/** The systems that the rules were written with in view. */
export const SEEN_SYSTEMS: Readonly<Record<string, readonly Event[]>> = {
  "shunting yard": [
    [400, (d) => `wagon ${number(d)} coupled to engine ${number(d)} on track ${d(30)}`],
    [300, (d) => `signal relay at ${target(d)} answered after ${clock(d)} with state green`],
    [200, (d) => `driver ${person(d)} logged on to cab ${d(40)}`],
    [150, (d) => `clearance from ${d(50) === 0 ? "LOCAL(0)" : address(d)} accepted for stratum ${d(9)}`],
    [
      90,
      (d) =>
        `axle counters: ${Array.from({ length: d(5) + 1 }, () => `box-${d(90)} 0x${hex(d)} <ok>`).join(" ")} read`,
    ],
    [5, (d) => `removing ${pick("hopper", "tanker", "boxcar", "flatcar", "caboose", "tender")(d)}`],
    [4, (d) => `TABLE: ${pick("RAIL", "TIES", "SWCH", "YARD", "LAMP")(d)} (v001 YARD 0x${hex(d)})`],
    [4, (d) => `Bus Link [${pick("LNKA", "LNKB", "LNKC", "LNKD")(d)}] (IRQs ${d(9)} ${d(9)} *${d(9)})`],
    [4, (d) => `brake pressure low on track ${d(30)}`],
    [2, () => "yard is closed for the night"],
  ],
  bakery: [
    [400, (d) => `oven ${d(9)} reached ${d(300)} C in ${d(60)} min`],
    [
      300,
      (d) => `order ${hex(d)} of ${person(d)}: ${d(20)} loaves, status=queued, price=${d(90)}.${d(90) + 10}`,
    ],
    [200, (d) => `scale read ${d(40) === 0 ? `${d(9)}.5[kg]` : d(5000)} for dough batch ${number(d)}`],
    [120, (d) => `conveyor speed changed from ${d(9)} to ${d(9)}`],
    [100, (d) => `upload of receipt /var/bakery/${number(d)}.pdf to ${target(d)} done`],
    [60, (d) => `yeast culture "${pick("alpha", "beta", "gamma", "delta", "omega", "sigma")(d)}" fed`],
    [6, (d) => `tray lost: ${pick("upper", "lower", "middle", "outer")(d)} shelf is empty at ${clock(d)}`],
    [3, () => "door opened"],
    [3, () => "door closed"],
  ],
  observatory: [
    [
      500,
      (d) =>
        `exposure ${number(d)} of field M${d(110)} started, filter=${pick("red", "blue", "green", "clear")(d)} seconds=${d(600)}`,
    ],
    [300, (d) => `guide star lost at ra ${clock(d)} dec -${d(80)}:${d(50) + 10}:11, retry ${d(5)}`],
    [200, (d) => `dome azimuth ${d(360)}.${d(10)} deg, wind ${d(30)} kts`],
    [150, (d) => `image stored as /data/${hex(d)}.fits (${d(60) === 0 ? `${d(90)}[MiB]` : d(90_000)})`],
    [100, (d) => `observer ${person(d)} took over telescope T${d(4)} from ${person(d)}`],
    [100, (d) => `sync with ${target(d)} drifted by ${d(900)} us`],
    [20, (d) => `focus motor stalled at step ${number(d)}`],
    [6, (d) => `loading ${pick("catalogue", "flats", "darks", "bias", "mask", "offsets")(d)}`],
    [2, () => "clouds reported, closing the dome"],
  ],
  clinic: [
    [400, (d) => `patient record ${hex(d)}-${hex(d)} opened by ${person(d)} in ward ${d(12)}`],
    [300, (d) => `HL7 message ADT^A0${d(9)} from ${address(d)}:${d(9000)} acknowledged in ${d(90)} ms`],
    [250, (d) => `pump ${d(40)} rate ${d(9)}.${d(9)} ml/h alarm=none battery=${d(100)}%`],
    [120, (d) => `pump ${d(40)} occluded, infusion stopped after ${clock(d)}`],
    [
      90,
      (d) =>
        `monitors: ${Array.from({ length: d(4) + 1 }, () => `bed-${d(40)} ${d(200)} <live>`).join(" ")} polled`,
    ],
    [
      40,
      (d) =>
        `printing label for sample ${number(d)} on printer '${pick("lab", "desk", "ward", "cellar", "annex", "gate")(d)}'`,
    ],
    [10, (d) => `badge of ${person(d)} refused at door ${d(20)}`],
    [3, () => "backup generator tested"],
  ],
  "game servers": [
    [
      500,
      (d) =>
        `match ${hex(d)} created: map=${pick("harbor", "canyon", "temple", "glacier", "meadow", "bunker")(d)} players=${d(16)}`,
    ],
    [400, (d) => `player ${person(d)}#${d(9999)} joined match ${hex(d)}`],
    [
      300,
      (d) => `player ${person(d)}#${d(9999)} left match ${hex(d)} (${pick("timeout", "quit", "kicked")(d)})`,
    ],
    [200, (d) => `tick ${number(d)} took ${d(90)}.${d(90)} ms, budget 16 ms`],
    [
      100,
      (d) =>
        `region ${pick("eu-west-1", "us-east-2", "ap-south-1")(d)} latency to ${target(d)} is ${d(300)}ms`,
    ],
    [30, (d) => `anti-cheat flagged ${address(d)}: score ${d(100)}/100`],
    [5, (d) => `shard ${pick("A", "B", "C", "D", "E")(d)} migrated`],
    [2, () => "maintenance window begins"],
  ],
  warehouse: [
    [
      500,
      (d) =>
        `pick ${number(d)} at aisle ${pick("A", "B", "C", "D")(d)}${d(40)} confirmed by scanner ${hex(d)}`,
    ],
    [300, (d) => `robot R-${d(99)} battery ${d(100)} % at (${d(90)}, ${d(90)}) heading ${d(360)}`],
    [
      200,
      (d) =>
        `robot R-${d(99)} blocked by ${pick("pallet", "person", "shelf", "robot", "forklift", "door")(d)} for ${clock(d)}`,
    ],
    [
      150,
      (d) =>
        `truck ${pick("HH", "B", "M", "K", "S")(d)}-${pick("XY", "AB", "QR")(d)} ${d(9999)} docked at gate ${d(20)}`,
    ],
    [100, (d) => `label service ${target(d)} returned ${pick("200", "201", "503")(d)} after ${d(5000)}ms`],
    [80, (d) => `inventory of sku=${hex(d)} corrected from ${d(90)} to ${d(90)}`],
    [5, (d) => `dropping ${pick("cache", "lease", "session", "queue", "ticket")(d)}`],
    [2, () => "conveyor emergency stop pressed"],
    [2, () => "conveyor emergency stop released"],
  ],
};

/** Those that no rule was written with in view. */
export const UNSEEN_SYSTEMS: Readonly<Record<string, readonly Event[]>> = {
  "ferry line": [
    [
      400,
      (d) =>
        `vessel ${pick("Aurora", "Baltica", "Cinder", "Dagmar", "Elsa", "Fjord", "Gerda")(d)} passed buoy ${d(90)} at ${d(20)}.${d(9)} knots`,
    ],
    [300, (d) => `ticket ${hex(d)} sold at counter ${d(9)} for ${d(90)}.50 EUR`],
    [200, (d) => `AIS receiver ${target(d)} lost ${d(90)} frames in ${clock(d)}`],
    [150, (d) => `ramp ${pick("bow", "stern")(d)} lowered by ${person(d)}`],
    [
      100,
      (d) =>
        `tide gauge ${d(9)}: level=${d(400)} trend=${pick("rising", "falling", "steady")(d)} wind=${d(30)}`,
    ],
    [
      50,
      (d) =>
        `cars on deck ${d(5)}: ${Array.from({ length: d(6) + 1 }, () => `lane-${d(9)} ${d(40)} (full)`).join(", ")}`,
    ],
    [5, (d) => `closing ${pick("hatch", "ramp", "galley", "bar")(d)}`],
    [2, () => "harbour radio silent"],
  ],
  "tax office": [
    [400, (d) => `return ${d(99)}/${d(999)}/${number(d)} filed by ${person(d)} via portal`],
    [300, (d) => `assessment job ${hex(d)} finished: ${number(d)} records, ${d(20)} rejected`],
    [200, (d) => `certificate of client ${address(d)} expires in ${d(300)} days`],
    [
      150,
      (d) =>
        `queue "${pick("income", "sales", "land", "trade", "wages", "dogs")(d)}" holds ${number(d)} items`,
    ],
    [90, (d) => `transfer to bank ${target(d)} of ${d(50) === 0 ? `${d(9)}[k]` : number(d)} confirmed`],
    [60, (d) => `rule ${pick("A", "B", "C", "D", "E", "F")(d)} of schedule ${d(20)} violated`],
    [30, (d) => `clerk ${person(d)} reassigned case ${number(d)} to ${person(d)}`],
    [2, () => "archive volume mounted read only"],
  ],
  greenhouse: [
    [400, (d) => `bed ${d(90)} moisture ${d(100)}% temp ${d(40)}.${d(9)}C`],
    [
      300,
      (d) =>
        `valve ${hex(d)} opened for ${d(90)} s by program ${pick("dawn", "noon", "dusk", "night", "storm", "frost")(d)}`,
    ],
    [200, (d) => `nutrient mix ${d(9)}:${d(9)}:${d(9)} pumped to rows ${d(9)}-${d(90)}`],
    [150, (d) => `camera ${target(d)} sent frame ${number(d)}`],
    [60, (d) => `pest trap ${d(40)} counted ${d(90)} insects since ${clock(d)}`],
    [20, (d) => `lamp driver error code=${hex(d)} phase=${pick("L", "M", "N")(d)} retry=${d(4)}`],
    [4, (d) => `TAGS: ${pick("ROSE", "MINT", "DILL", "SAGE")(d)} (v2 SEED 0x${hex(d)})`],
    [2, () => "roof closed by hail sensor"],
  ],
};

/** 2 000 lines of a system, the same in every run. */
export function writeLines(events: readonly Event[]): LabelledLine[] {
  const total = events.reduce((sum, [weight]) => sum + weight, 0);
  let state = 1;
  const draw: Draw = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: LINES }, () => {
    let at = draw(total);
    const index = events.findIndex(([weight]) => {
      at -= weight;
      return at < 0;
    });
    return { content: events[index]?.[1](draw) ?? "", event: String(index) };
  });
}
