import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  simple,
} from "./definition.ts";
import { DATETIME_RANGE, datetimeInRange, int64, nanosecondsOf, SECOND_NS } from "./nanoseconds.ts";
import { zoneNames } from "./zone-names.ts";

/** The name by which ClickHouse knows a zone of the tz database; throws for a text that names none. */
function zoneName(call: CallWriter): string {
  const given = call.operands[1];
  const value = given?.kind === "literal" && given.type === "string" ? (given.value ?? "") : "";
  const name = canonicalZone(value);
  if (name === null)
    throw new FunctionArgumentError(
      1,
      `There is no time zone '${value}'; datetime_list_timezones() has their names.`,
    );
  return name;
}

/** Null for a text that names no zone; offsets such as `+01:00` are none. */
function canonicalZone(value: string): string | null {
  if (!/^[A-Za-z]/.test(value)) return null;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** The SQL of how far the zone's clocks are ahead of UTC, in nanoseconds, at a time given in nanoseconds since 1970. */
function offsetAt(nanoseconds: string, zone: string): string {
  return `(toInt64(timezoneOffset(fromUnixTimestamp64Nano(${nanoseconds}, ${zone}))) * ${int64(SECOND_NS)})`;
}

function zoned(summary: string, write: (call: CallWriter, zone: string) => string): FunctionDefinition {
  return {
    ...simple(
      summary,
      [parameter("from", "datetime"), constant("timezone", "string")],
      "datetime",
      "possible",
      (call) => write(call, zoneName(call)),
    ),
    approximate: DATETIME_RANGE,
  };
}

const UTC_TO_LOCAL = zoned("What the clocks of a zone show at a time.", (call, zone) => {
  const time = call.share(nanosecondsOf(call.operand(0)));
  return datetimeInRange(call.share(`(${time} + ${offsetAt(time, call.parameter("String", zone))})`));
});

/** Clocks change at whole quarters of an hour. */
const QUARTER_NS = 900n * SECOND_NS;

/**
 * The offset at the time itself is only known once the offset is: the first guess is right but around a change. A time
 * that the clocks leave out, since they are put forward, is that of the change.
 */
const LOCAL_TO_UTC = zoned("The time at which the clocks of a zone show this.", (call, zone) => {
  const name = call.parameter("String", zone);
  const given = call.share(nanosecondsOf(call.operand(0)));
  const time = call.share(`assumeNotNull(${given})`);
  const guess = call.share(`(${time} - ${offsetAt(time, name)})`);
  const found = call.share(`(${time} - ${offsetAt(guess, name)})`);
  const other = call.share(`(${time} - ${offsetAt(found, name)})`);
  const isLeftOut = call.share(`(${other} != ${found} AND ${found} + ${offsetAt(found, name)} != ${time})`);
  const from = call.share(`least(${other}, ${found})`);
  const to = call.share(`greatest(${other}, ${found})`);
  const quarter = int64(QUARTER_NS);
  const start = call.share(`${from} - positiveModulo(${from}, ${quarter})`);
  const count = call.share(
    `if(${isLeftOut}, toUInt64(intDiv(${to} - ${start}, ${quarter}) + 1), toUInt64(0))`,
  );
  const quarters = `arrayMap(i -> ${start} + toInt64(i) * ${quarter}, range(least(${count}, 200)))`;
  const later = call.share(offsetAt(to, name));
  const change = `arrayFirst(x -> ${offsetAt("x", name)} = ${later}, ${quarters})`;
  return `if(isNull(${given}), NULL, ${datetimeInRange(call.share(`if(${isLeftOut}, ${change}, ${found})`))})`;
});

/** Conversions between UTC and local time. */
export const TIME_ZONE_FUNCTIONS = {
  datetime_utc_to_local: UTC_TO_LOCAL,
  datetime_local_to_utc: LOCAL_TO_UTC,
  datetime_list_timezones: simple("The names of the time zones.", [], "dynamic", "never", (call) =>
    call.parameter("String", JSON.stringify(zoneNames())),
  ),
} as const satisfies FunctionTable;
