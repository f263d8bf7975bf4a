import {
  constant,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  simple,
} from "./definition.ts";
import { constantText } from "./string-operators.ts";

/** What one unit is in the first of its kind: times a factor, and for temperatures behind an offset. */
interface Unit {
  readonly factor: number;
  readonly offset?: number;
}

type Units = Readonly<Record<string, number>>;

const PREFIXES = {
  Nano: 1e-9,
  Micro: 1e-6,
  Milli: 1e-3,
  Centi: 1e-2,
  Deci: 0.1,
  Deca: 10,
  Hecto: 100,
  Kilo: 1e3,
  Mega: 1e6,
  Giga: 1e9,
  Tera: 1e12,
} as const;
type Prefix = keyof typeof PREFIXES;

/** A unit with its multiples. */
function multiples(unit: string, factor: number, prefixes: readonly Prefix[]): Units {
  const named = prefixes.map(
    (prefix) => [`${prefix}${unit.toLowerCase()}`, factor * PREFIXES[prefix]] as const,
  );
  return { [unit]: factor, ...Object.fromEntries(named) };
}

const FOOT = 0.3048;
const POUND = 0.45359237;
const GRAVITY = 9.80665;

const LENGTHS: Units = {
  ...multiples("Meter", 1, [
    "Nano",
    "Micro",
    "Milli",
    "Centi",
    "Deci",
    "Deca",
    "Hecto",
    "Kilo",
    "Mega",
    "Giga",
  ]),
  Angstrom: 1e-10,
  AstronomicalUnit: 149_597_870_700,
  Inch: FOOT / 12,
  Foot: FOOT,
  Yard: 3 * FOOT,
  Mile: 5280 * FOOT,
  NauticalMile: 1852,
  Fathom: 6 * FOOT,
  Chain: 66 * FOOT,
  Hand: FOOT / 3,
  LightYear: 9_460_730_472_580_800,
};

const MASSES: Units = {
  ...multiples("Gram", 1e-3, ["Nano", "Micro", "Milli", "Centi", "Deci", "Deca", "Hecto", "Kilo"]),
  ...multiples("Tonne", 1e3, ["Kilo", "Mega"]),
  Pound: POUND,
  Kilopound: 1e3 * POUND,
  Megapound: 1e6 * POUND,
  Ounce: POUND / 16,
  Grain: POUND / 7000,
  Stone: 14 * POUND,
  ShortTon: 2000 * POUND,
  LongTon: 2240 * POUND,
  ShortHundredweight: 100 * POUND,
  LongHundredweight: 112 * POUND,
};

const CUBIC_METER_OF: Units = {
  Meter: 1,
  Decimeter: 1e-3,
  Centimeter: 1e-6,
  Millimeter: 1e-9,
  Micrometer: 1e-18,
  Kilometer: 1e9,
  Hectometer: 1e6,
  Inch: (FOOT / 12) ** 3,
  Foot: FOOT ** 3,
  Yard: (3 * FOOT) ** 3,
  Mile: (5280 * FOOT) ** 3,
};
/** The acre of the survey foot, and a foot deep. */
const ACRE_FOOT = 1 / 0.000810714;
const US_GALLON = 231 * (FOOT / 12) ** 3;
const IMPERIAL_GALLON = 0.00454609;

const VOLUMES: Units = {
  ...Object.fromEntries(Object.entries(CUBIC_METER_OF).map(([unit, factor]) => [`Cubic${unit}`, factor])),
  ...multiples("Liter", 1e-3, ["Nano", "Micro", "Milli", "Centi", "Deci", "Deca", "Hecto", "Kilo", "Mega"]),
  AcreFoot: ACRE_FOOT,
  UsGallon: US_GALLON,
  UsQuart: US_GALLON / 4,
  UsPint: US_GALLON / 8,
  UsOunce: US_GALLON / 128,
  UsTablespoon: US_GALLON / 256,
  UsTeaspoon: US_GALLON / 768,
  ImperialGallon: IMPERIAL_GALLON,
  ImperialQuart: IMPERIAL_GALLON / 4,
  ImperialPint: IMPERIAL_GALLON / 8,
  ImperialOunce: IMPERIAL_GALLON / 160,
  OilBarrel: 42 * US_GALLON,
};

const PER: Units = { Second: 1, Minute: 60, Hour: 3600 };
const WAYS: Units = {
  ...multiples("Meter", 1, ["Nano", "Micro", "Milli", "Centi", "Deci", "Kilo"]),
  Foot: FOOT,
  Inch: FOOT / 12,
  Yard: 3 * FOOT,
};

const SPEEDS: Units = {
  ...Object.fromEntries(
    Object.entries(WAYS).flatMap(([way, length]) =>
      Object.entries(PER).map(([time, seconds]) => [`${way}Per${time}`, length / seconds]),
    ),
  ),
  MilePerHour: (5280 * FOOT) / 3600,
  Knot: 1852 / 3600,
  Mach: 340.29,
};

const ANGLES: Units = {
  Radian: 1,
  Milliradian: 1e-3,
  Microradian: 1e-6,
  Nanoradian: 1e-9,
  Degree: Math.PI / 180,
  Millidegree: Math.PI / 180e3,
  Microdegree: Math.PI / 180e6,
  Nanodegree: Math.PI / 180e9,
  Arcminute: Math.PI / 10_800,
  Arcsecond: Math.PI / 648_000,
  Gradian: Math.PI / 200,
  Revolution: 2 * Math.PI,
};

const FORCES: Units = {
  ...multiples("Newton", 1, ["Micro", "Milli", "Deca", "Kilo", "Mega"]),
  Dyn: 1e-5,
  KilogramForce: GRAVITY,
  KiloPond: GRAVITY,
  TonneForce: 1e3 * GRAVITY,
  PoundForce: POUND * GRAVITY,
  KilopoundForce: 1e3 * POUND * GRAVITY,
  OunceForce: (POUND * GRAVITY) / 16,
  Poundal: POUND * FOOT,
};

const ENERGIES: Units = {
  ...multiples("Joule", 1, ["Milli", "Kilo", "Mega", "Giga"]),
  WattHour: 3600,
  KilowattHour: 3600e3,
  MegawattHour: 3600e6,
  GigawattHour: 3600e9,
  TerawattHour: 3600e12,
  WattDay: 86_400,
  KilowattDay: 86_400e3,
  MegawattDay: 86_400e6,
  GigawattDay: 86_400e9,
  TerawattDay: 86_400e12,
  Calorie: 4.184,
  Kilocalorie: 4184,
  Megacalorie: 4_184_000,
  ElectronVolt: 1.602176634e-19,
  Erg: 1e-7,
  FootPound: POUND * GRAVITY * FOOT,
};

const TEMPERATURES: Readonly<Record<string, Unit>> = {
  Kelvin: { factor: 1 },
  DegreeCelsius: { factor: 1, offset: 273.15 },
  DegreeFahrenheit: { factor: 5 / 9, offset: 273.15 - 160 / 9 },
  DegreeRankine: { factor: 5 / 9 },
  DegreeReaumur: { factor: 1.25, offset: 273.15 },
  DegreeDelisle: { factor: -2 / 3, offset: 373.15 },
};

function scaled(units: Units): ReadonlyMap<string, Unit> {
  return new Map(Object.entries(units).map(([name, factor]) => [name, { factor }]));
}

function conversion(what: string, units: ReadonlyMap<string, Unit>): FunctionDefinition {
  return {
    ...simple(
      `${what} in another unit; the units go by their English names, such as ${[...units.keys()].slice(0, 2).join(" and ")}.`,
      [parameter("value", "real"), constant("from", "string"), constant("to", "string")],
      "real",
      "propagate",
      (call) => {
        const [from, to] = [1, 2].map((index) => {
          const name = constantText(call, index) ?? "";
          const unit = units.get(name);
          if (unit !== undefined) return unit;
          throw new FunctionArgumentError(
            index,
            `There is no unit '${name}' here; there are ${[...units.keys()].join(", ")}.`,
          );
        });
        if (from === undefined || to === undefined) throw new TypeError("a conversion has two units");
        const factor = call.parameter("Float64", String(from.factor / to.factor));
        const offset = ((from.offset ?? 0) - (to.offset ?? 0)) / to.factor;
        const value = `${call.operand(0)} * ${factor}`;
        return offset === 0 ? `(${value})` : `(${value} + ${call.parameter("Float64", String(offset))})`;
      },
    ),
    approximate: "Kusto knows more units; a unit that is not known here is refused rather than null.",
  };
}

/** Conversions between units of measure. */
export const UNIT_FUNCTIONS = {
  convert_length: conversion("A length", scaled(LENGTHS)),
  convert_mass: conversion("A mass", scaled(MASSES)),
  convert_volume: conversion("A volume", scaled(VOLUMES)),
  convert_speed: conversion("A speed", scaled(SPEEDS)),
  convert_angle: conversion("An angle", scaled(ANGLES)),
  convert_force: conversion("A force", scaled(FORCES)),
  convert_energy: conversion("An amount of energy", scaled(ENERGIES)),
  convert_temperature: conversion("A temperature", new Map(Object.entries(TEMPERATURES))),
} as const satisfies FunctionTable;
