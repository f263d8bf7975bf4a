import type { ScalarType } from "../scalar-type.ts";
import { unreachable } from "../unreachable.ts";

/**
 * The SQL of `tostring(value)` for a value in the form of its type (see `CallWriter`): never NULL, nothing is the
 * empty text. `value` is written more than once: it must be shared. A dynamic value is its JSON text, a string inside
 * it without quotes.
 */
export function valueToText(value: string, type: ScalarType): string {
  switch (type) {
    case "string":
    case "guid":
      return value;
    case "bool":
      return `multiIf(isNull(${value}), '', ${value}, 'True', 'False')`;
    case "int":
    case "long":
    case "decimal":
      return `ifNull(toString(${value}), '')`;
    case "real":
      return realToText(value, "inf");
    case "datetime":
      return `ifNull(${datetimeToText(value)}, '')`;
    case "timespan":
      return `ifNull(${timespanToText(value)}, '')`;
    case "dynamic":
      return `if(startsWith(${value}, '"'), JSONExtractString(${value}), ${value})`;
    default:
      return unreachable(type);
  }
}

/** The SQL of the JSON text of a value, empty for nothing: the form of a dynamic value. `value` must be shared. */
export function valueToJson(value: string, type: ScalarType): string {
  switch (type) {
    case "string":
      return `toJSONString(${value})`;
    case "guid":
      return `if(${value} = '', '', toJSONString(${value}))`;
    case "bool":
      return `multiIf(isNull(${value}), '', ${value}, 'true', 'false')`;
    case "int":
    case "long":
      return `ifNull(toString(${value}), '')`;
    case "decimal":
      return `ifNull(concat('"', toString(${value}), '"'), '')`;
    case "real":
      return `multiIf(isNull(${value}), '', isNaN(${value}) OR isInfinite(${value}), concat('"', ${realToText(value, "Infinity")}, '"'), ${realToText(value, "Infinity")})`;
    case "datetime":
      return `ifNull(concat('"', ${datetimeToText(value)}, '"'), '')`;
    case "timespan":
      return `ifNull(concat('"', ${timespanToText(value)}, '"'), '')`;
    case "dynamic":
      return value;
    default:
      return unreachable(type);
  }
}

/** Kusto's text of a time: `2024-01-31T10:00:00.0000000Z`. NULL stays NULL. */
function datetimeToText(value: string): string {
  return `concat(replaceOne(rightPad(substring(toString(${value}), 1, 27), 27, '0'), ' ', 'T'), 'Z')`;
}

/** Kusto's text of a length of time: `[-][d.]hh:mm:ss[.fffffff]`. NULL stays NULL. */
function timespanToText(value: string): string {
  const ticks = `intDiv(abs(${value}), 100)`;
  const days = `intDiv(${ticks}, 864000000000)`;
  const part = (divisor: string, modulus: string) =>
    `leftPad(toString(modulo(intDiv(${ticks}, ${divisor}), ${modulus})), 2, '0')`;
  const fraction = `modulo(${ticks}, 10000000)`;
  return (
    `concat(if(${value} <= -100, '-', ''), if(${days} > 0, concat(toString(${days}), '.'), ''), ` +
    `${part("36000000000", "24")}, ':', ${part("600000000", "60")}, ':', ${part("10000000", "60")}, ` +
    `if(${fraction} > 0, concat('.', leftPad(toString(${fraction}), 7, '0')), ''))`
  );
}

/**
 * Kusto's text of a real number: the shortest that reads back, `1.0` for a whole one, with an exponent of two digits at
 * least (`1e+16`, `1e-05`) from 1e16 on and below 0.0001; zero keeps its sign.
 */
function realToText(value: string, infinite: "inf" | "Infinity"): string {
  const size = `abs(${value})`;
  const isPlain = `((${size} >= 0.0001 AND ${size} < 1e16) OR ${value} = 0)`;
  const plain = `if(${value} = trunc(${value}), concat(toString(${value}), '.0'), toString(${value}))`;
  return (
    `ifNull(multiIf(${isPlain}, ${plain}, isNaN(${value}), 'NaN', ` +
    `isInfinite(${value}), if(${value} > 0, '${infinite}', '-${infinite}'), ` +
    `concat(if(${value} < 0, '-', ''), ${scientificText(`toString(${size})`)})), '')`
  );
}

/** ClickHouse writes an exponent only from 1e21 on and below 1e-6, and without a plus or a leading zero. */
function scientificText(text: string): string {
  const withExponent = `replaceRegexpOne(replaceRegexpOne(${text}, 'e([0-9])', 'e+\\\\1'), 'e([+-])([0-9])$', 'e\\\\10\\\\2')`;
  const significant = (digits: string) =>
    `concat(substring(${digits}, 1, 1), if(length(${digits}) > 1, '.', ''), substring(${digits}, 2))`;
  const large = `trim(TRAILING '0' FROM ${text})`;
  const small = `trim(LEADING '0' FROM substring(${text}, 3))`;
  return (
    `multiIf(position(${text}, 'e') > 0, ${withExponent}, startsWith(${text}, '0.'), ` +
    `concat(${significant(small)}, 'e-0', toString(length(${text}) - 1 - length(${small}))), ` +
    `concat(${significant(large)}, 'e+', toString(length(${text}) - 1)))`
  );
}
