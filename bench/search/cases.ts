import { needleEveryRows, needleOf, needleOffset } from "../storage/rows.ts";

/** One kind of question, asked through the product and as hand-written SQL; `round` varies the values. */
export interface SearchCase {
  readonly name: string;
  readonly path: (round: number) => string;
  /** The condition, or for one entry the whole of it; the frame around it is the same for all. */
  readonly where: (round: number) => string;
  /** Set where the answer is one entry, which nobody counts. */
  readonly isSingle?: true;
  /** Instead of entries, the columns, grouping and order of a statement that counts. */
  readonly counts?: (from: string) => string;
}

function search(
  name: string,
  parameters: (round: number) => Record<string, string>,
  where: SearchCase["where"],
): SearchCase {
  return { name, path: (round) => `/api/v1/logs/search?${new URLSearchParams(parameters(round))}`, where };
}

/** The cases on a table of `rows` rows in which `ids` are stored. */
export function searchCases(rows: number, ids: readonly string[]): SearchCase[] {
  const needle = (round: number): string => {
    const count = Math.floor((rows - needleOffset) / needleEveryRows);
    return needleOf(needleOffset + ((round * 7) % count) * needleEveryRows);
  };
  const absent = (round: number): string => `zq${(round + 1) * 7919}xkcd`;
  const like = (text: string): string => `lower(message) LIKE '%${text.toLowerCase()}%'`;
  return [
    search(
      "newest 100",
      () => ({}),
      () => "1",
    ),
    search(
      "newest 100, level=error",
      () => ({ level: "error" }),
      () => "level = 'error'",
    ),
    search(
      "newest 100, service",
      () => ({ service: "linux-api" }),
      () => "service = 'linux-api'",
    ),
    search(
      "newest 100, service without entries",
      () => ({ service: "nobody" }),
      () => "service = 'nobody'",
    ),
    search(
      "newest 1000",
      () => ({ limit: "1000" }),
      () => "1",
    ),
    search(
      "frequent word",
      () => ({ q: "failed" }),
      () => like("failed"),
    ),
    search(
      "two words",
      () => ({ q: "password root" }),
      () => `${like("password")} AND ${like("root")}`,
    ),
    search(
      "phrase",
      () => ({ q: '"authentication failure; logname="' }),
      () => like("authentication failure; logname="),
    ),
    search(
      "needle, one hit",
      (round) => ({ q: needle(round) }),
      (round) => like(needle(round)),
    ),
    search(
      "needle, no hit",
      (round) => ({ q: absent(round) }),
      (round) => like(absent(round)),
    ),
    search(
      "short word, no hit",
      () => ({ q: "qqx" }),
      () => like("qqx"),
    ),
    search(
      "word beyond ASCII",
      () => ({ q: "straße" }),
      () => "positionCaseInsensitiveUTF8(message, 'straße') > 0",
    ),
    search(
      "KQL predicate",
      () => ({ query: 'level == "error" and service == "linux-api"' }),
      () => "level = 'error' AND service = 'linux-api'",
    ),
    {
      name: "histogram by hour",
      path: () => "/api/v1/logs/histogram?bucketSec=3600",
      where: () => "1",
      counts: (from) => `SELECT toStartOfHour(ts) AS start, count() ${from} GROUP BY start ORDER BY start`,
    },
    {
      name: "facets of level and service",
      path: () => "/api/v1/logs/facets?fields=level,service",
      where: () => "1",
      counts: (from) =>
        ["level", "service"]
          .map(
            (name) =>
              `SELECT ${name} AS value, count() AS n ${from} AND ${name} != '' GROUP BY value ORDER BY n DESC LIMIT 10`,
          )
          .join(" UNION ALL "),
    },
    {
      name: "by id",
      path: (round) => `/api/v1/logs/${ids[round % ids.length]}`,
      where: (round) => `id = ${ids[round % ids.length]}`,
      isSingle: true,
    },
  ];
}
