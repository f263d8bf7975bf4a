import { type AggregateTable, constant, parameter, simple } from "./definition.ts";

/** What `make-series` is made of. */
export const SERIES_AGGREGATES = {
  seriesValues: {
    ...simple(
      "The values of the steps as an array, in their order, those without one filled.",
      [
        parameter("step", "long"),
        parameter("value", "dynamic"),
        constant("default", "dynamic"),
        constant("count", "long"),
      ],
      "dynamic",
      "never",
      (call) => {
        const steps = call.share(`groupArray(assumeNotNull(${call.operand(0)}))`);
        const values = call.share(`groupArray(${call.operand(1)})`);
        const byStep = call.share(`CAST((${steps}, ${values}), 'Map(Int64, String)')`);
        const fallback = call.sharedOperand(2);
        const point = `if(mapContains(${byStep}, i), if(${byStep}[i] = '', 'null', ${byStep}[i]), ${fallback})`;
        return `concat('[', arrayStringConcat(arrayMap(i -> ${point}, range(toInt64(0), ${call.operand(3)})), ','), ']')`;
      },
    ),
    prefix: "series",
  },
} as const satisfies AggregateTable;
