import { ADDRESS_SEARCH_FUNCTIONS } from "./address-search.ts";
import { STATISTIC_AGGREGATES } from "./aggregates.ts";
import { COLLECTION_AGGREGATES } from "./aggregates-collections.ts";
import { SELECTION_AGGREGATES } from "./aggregates-selection.ts";
import { ARITHMETIC_OPERATORS } from "./arithmetic.ts";
import { BIN_FUNCTIONS } from "./bins.ts";
import { BIT_FUNCTIONS } from "./bits.ts";
import { CALENDAR_FUNCTIONS } from "./calendar.ts";
import { POSITION_FUNCTIONS } from "./character-positions.ts";
import { COMPARISON_OPERATORS } from "./comparison.ts";
import { COMPRESSED_TEXT_FUNCTIONS } from "./compressed-text.ts";
import { CONDITION_FUNCTIONS } from "./conditions.ts";
import { CONVERSION_FUNCTIONS } from "./conversions.ts";
import { DATETIME_PART_FUNCTIONS } from "./datetime-parts.ts";
import type { AggregateTable, FunctionTable } from "./definition.ts";
import { ARRAY_SORTING_FUNCTIONS } from "./dynamic-array-sorting.ts";
import { ARRAY_FUNCTIONS } from "./dynamic-arrays.ts";
import { BAG_FUNCTIONS, BAG_OPERATORS } from "./dynamic-bags.ts";
import { PATH_FUNCTIONS, PATH_OPERATORS } from "./dynamic-paths.ts";
import { SET_FUNCTIONS } from "./dynamic-sets.ts";
import { DYNAMIC_FUNCTIONS, DYNAMIC_OPERATORS } from "./dynamic-values.ts";
import { ENCODING_FUNCTIONS } from "./encodings.ts";
import { EXACT_OPERATORS } from "./exact-numbers.ts";
import { FORMAT_FUNCTIONS } from "./formats.ts";
import { HASH_FUNCTIONS } from "./hashes.ts";
import { IPV4_FUNCTIONS } from "./ipv4-addresses.ts";
import { IPV6_FUNCTIONS } from "./ipv6-addresses.ts";
import { MATH_FUNCTIONS } from "./math.ts";
import { PUNYCODE_FUNCTIONS } from "./punycode.ts";
import { REGEX_FUNCTIONS, REGEX_OPERATORS } from "./regular-expressions.ts";
import { SERIES_AGGREGATES } from "./series.ts";
import { SERIES_ARITHMETIC_FUNCTIONS } from "./series-arithmetic.ts";
import {
  DECOMPOSED_ANOMALIES,
  DECOMPOSITION,
  SERIES_DECOMPOSITION_FUNCTIONS,
} from "./series-decomposition.ts";
import { SERIES_FILLING_FUNCTIONS } from "./series-filling.ts";
import { SERIES_FILTER_FUNCTIONS } from "./series-filters.ts";
import { PERIODS_DETECT, PERIODS_VALIDATE } from "./series-periods.ts";
import { FIT_2LINES, FIT_LINE, SERIES_STATISTICS_FUNCTIONS, STATS } from "./series-statistics.ts";
import { resultFunctions, type SeveralResults } from "./several-results.ts";
import { STRING_OPERATORS } from "./string-operators.ts";
import { STRING_FUNCTIONS } from "./strings.ts";
import { TERM_FUNCTIONS, TERM_OPERATORS } from "./term-search.ts";
import { PARSER_FUNCTIONS } from "./text-parsers.ts";
import { TEXT_PATTERN_OPERATORS } from "./text-patterns.ts";
import { TIME_ZONE_FUNCTIONS } from "./time-zones.ts";
import { UNIT_FUNCTIONS } from "./units.ts";
import { URL_FUNCTIONS } from "./urls.ts";

/** Functions that make several columns. */
export const FUNCTIONS_OF_SEVERAL_RESULTS: readonly SeveralResults[] = [
  FIT_LINE,
  FIT_2LINES,
  STATS,
  PERIODS_DETECT,
  PERIODS_VALIDATE,
  DECOMPOSITION,
  DECOMPOSED_ANOMALIES,
];

/** Operators, by names that a query cannot write as a function. */
export const OPERATOR_TABLES: readonly FunctionTable[] = [
  REGEX_OPERATORS,
  COMPARISON_OPERATORS,
  ARITHMETIC_OPERATORS,
  EXACT_OPERATORS,
  PATH_OPERATORS,
  BAG_OPERATORS,
  DYNAMIC_OPERATORS,
  STRING_OPERATORS,
  TERM_OPERATORS,
  TEXT_PATTERN_OPERATORS,
  ...FUNCTIONS_OF_SEVERAL_RESULTS.map(resultFunctions),
];

/** Functions that a query can call by name. */
export const FUNCTION_TABLES: readonly FunctionTable[] = [
  PARSER_FUNCTIONS,
  ADDRESS_SEARCH_FUNCTIONS,
  IPV6_FUNCTIONS,
  IPV4_FUNCTIONS,
  URL_FUNCTIONS,
  HASH_FUNCTIONS,
  ENCODING_FUNCTIONS,
  POSITION_FUNCTIONS,
  REGEX_FUNCTIONS,
  ARRAY_FUNCTIONS,
  ARRAY_SORTING_FUNCTIONS,
  BAG_FUNCTIONS,
  BIN_FUNCTIONS,
  BIT_FUNCTIONS,
  CALENDAR_FUNCTIONS,
  COMPRESSED_TEXT_FUNCTIONS,
  CONDITION_FUNCTIONS,
  CONVERSION_FUNCTIONS,
  DATETIME_PART_FUNCTIONS,
  DYNAMIC_FUNCTIONS,
  FORMAT_FUNCTIONS,
  MATH_FUNCTIONS,
  PATH_FUNCTIONS,
  PUNYCODE_FUNCTIONS,
  SERIES_ARITHMETIC_FUNCTIONS,
  SERIES_FILLING_FUNCTIONS,
  SERIES_FILTER_FUNCTIONS,
  SERIES_STATISTICS_FUNCTIONS,
  SERIES_DECOMPOSITION_FUNCTIONS,
  SET_FUNCTIONS,
  STRING_FUNCTIONS,
  TERM_FUNCTIONS,
  TIME_ZONE_FUNCTIONS,
  UNIT_FUNCTIONS,
];

export const AGGREGATE_TABLES: readonly AggregateTable[] = [
  STATISTIC_AGGREGATES,
  COLLECTION_AGGREGATES,
  SELECTION_AGGREGATES,
  SERIES_AGGREGATES,
];
