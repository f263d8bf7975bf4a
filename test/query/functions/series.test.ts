import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout, rowOfQuery, rowsOfQuery, valuesOf } from "./answers.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

/** A dynamic value is its JSON text, nothing is the empty one; a long is decimal text. */
async function expectValues(
  cases: readonly (readonly [expression: string, value: unknown])[],
): Promise<void> {
  const found = await valuesOf(
    runner,
    cases.map(([expression]) => expression),
  );
  expect(found).toEqual([...cases]);
}

describe("series, element by element", () => {
  test("stay series of integers where both are, but for quotients", () =>
    expectValues([
      ["series_add(dynamic([1,2,4]), dynamic([4,2,1]))", "[5,4,5]"],
      ["series_subtract(dynamic([1,2,4]), dynamic([4,2,1]))", "[-3,0,3]"],
      ["series_multiply(10, dynamic([1,-1,0]))", "[10,-10,0]"],
      ["series_multiply(dynamic([9007199254740993]), 3)", "[27021597764222979]"],
      ["series_add(dynamic([1,2.5]), 1)", "[2.0,3.5]"],
      ["series_divide(dynamic([1,2,4]), dynamic([4,2,1]))", "[0.25,1.0,4.0]"],
      ["series_pow(dynamic([2,3]), 2)", "[4.0,9.0]"],
    ]));

  test("are null where one of both has no number, and where one is longer", () =>
    expectValues([
      ["series_add(dynamic([1,null,'x',true]), dynamic([1,1,1,1]))", "[2.0,null,null,null]"],
      ["series_add(dynamic([1,2]), dynamic([1]))", "[2,null]"],
      ["series_add(dynamic({'a':1}), dynamic([1]))", ""],
      ["series_add(dynamic(null), 1)", ""],
      ["series_divide(dynamic([1,-1,0]), 0)", `["Infinity","-Infinity","NaN"]`],
      ["series_add(dynamic([]), dynamic([]))", "[]"],
      ["series_sin(parse_json('no json'))", ""],
    ]));

  test("are compared", () =>
    expectValues([
      ["series_equals(dynamic([1,2,4]), dynamic([4,2,1]))", "[false,true,false]"],
      ["series_not_equals(dynamic([1,2,4]), dynamic([4,2,1]))", "[true,false,true]"],
      ["series_less(dynamic([1,2,4]), dynamic([4,2,1]))", "[true,false,false]"],
      ["series_less_equals(dynamic([1,2,4]), 2)", "[true,true,false]"],
      ["series_greater(dynamic([1,2,4]), 1.5)", "[false,true,true]"],
      ["series_greater_equals(dynamic([1,2,null]), dynamic([4,2,1]))", "[false,true,null]"],
      ["series_equals(dynamic([9007199254740993]), dynamic([9007199254740992]))", "[false]"],
    ]));

  test("go through functions of numbers", () =>
    expectValues([
      ["series_abs(dynamic([-6.5,0,8.2]))", "[6.5,0.0,8.2]"],
      ["series_ceiling(dynamic([-1.5,1,2.5]))", "[-1.0,1.0,3.0]"],
      ["series_floor(dynamic([-1.5,1,2.5]))", "[-2.0,1.0,2.0]"],
      ["series_sign(dynamic([-6,0,8,null]))", "[-1.0,0.0,1.0,null]"],
      ["series_exp(dynamic([0]))", "[1.0]"],
      ["series_log(dynamic([1,0]))", `[0.0,"-Infinity"]`],
    ]));
});

describe("gaps of a series", () => {
  const GAPS = "dynamic([null,111,null,36,41,null,null,16,61,33,null,null])";

  test("lie on the line between their neighbours, cut to integers among integers", () =>
    expectValues([
      [`series_fill_linear(${GAPS})`, "[111,111,73,36,41,32,24,16,61,33,33,33]"],
      [`series_fill_linear(${GAPS}, double(null), false)`, "[null,111,73,36,41,32,24,16,61,33,null,null]"],
      ["series_fill_linear(dynamic([1.5,null,3]))", "[1.5,2.25,3.0]"],
      ["series_fill_linear(dynamic([null,null]))", "[0.0,0.0]"],
      ["series_fill_linear(dynamic([null,null]), double(null), true, 3.14159)", "[3.14159,3.14159]"],
      ["series_fill_linear(dynamic([0,5,0,7]), 0)", "[5,5,6,7]"],
      ["series_fill_linear(dynamic([]))", "[]"],
      ["series_fill_linear(dynamic(7))", ""],
    ]));

  test("are what stands before or behind them, or a constant", () =>
    expectValues([
      ["series_fill_forward(dynamic([null,1,null,3,null]))", "[null,1,1,3,3]"],
      ["series_fill_backward(dynamic([null,1,null,3,null]))", "[1,1,3,3,null]"],
      ["series_fill_forward(dynamic([1,0,0,3]), 0)", "[1,1,1,3]"],
      ["series_fill_const(dynamic([1,null,3]), 9)", "[1,9,3]"],
      ["series_fill_const(dynamic([1,-1,3]), 0, -1)", "[1,0,3]"],
    ]));
});

describe("filters", () => {
  test("average, differ and add up", () =>
    expectValues([
      [
        "series_fir(dynamic([0,0,0,0,2,2,2,2,3,3,3,3]), dynamic([1,-1]), false, false)",
        "[0,0,0,0,2,0,0,0,1,0,0,0]",
      ],
      ["series_fir(dynamic([0,0,10,20,40]), dynamic([1,1,1,1,1]))", "[0.0,0.0,2.0,6.0,14.0]"],
      ["series_fir(dynamic([0,0,5,0,0]), dynamic([1,1,1,1,1]), true, true)", "[1.0,1.0,1.0,1.0,1.0]"],
      ["series_fir(dynamic([1,2]), dynamic([1,-1]), true)", ""],
      ["series_iir(dynamic([0,1,2,3,4]), dynamic([1]), dynamic([1,-1]))", "[0,1,3,6,10]"],
      ["series_iir(dynamic([1,1,1]), dynamic([0.5]), dynamic([1,-0.5]))", "[0.5,0.75,0.875]"],
      ["series_fir(dynamic([1,null]), dynamic([1]))", ""],
      // Beyond the longs, beyond the reals, and computed for a row that is none of integers.
      [
        "series_fir(dynamic([9223372036854775807,-9223372036854775807]), dynamic([1,-1]), false)",
        "[9223372036854776000,-18446744073709552000]",
      ],
      [`series_fir(parse_json('[1e308,-1e308]'), dynamic([1,-1]), false)`, `[1e308,"-Infinity"]`],
    ]));

  test("take a short list of numbers", () => {
    expect(complaintAbout("print series_fir(dynamic([1]), dynamic(['a']))")?.message).toContain(
      "array of numbers",
    );
    expect(complaintAbout("print series_fir(dynamic([1]), dynamic([]))")?.code).toBe("WRONG_ARGUMENTS");
    expect(complaintAbout("print series_iir(dynamic([1]), dynamic([1]), dynamic([0,1]))")?.message).toContain(
      "not 0",
    );
    const long = Array.from({ length: 501 }, () => "1").join(",");
    expect(complaintAbout(`print series_fir(dynamic([1]), dynamic([${long}]))`)?.message).toContain("500");
  });
});

describe("functions of several columns", () => {
  const LINE = "dynamic([2,5,6,8,11,15,17,18,25,26,30,30])";

  test("fill as many as are named in extend, and all of them in project", async () => {
    expect(
      await rowOfQuery(runner, `print y = ${LINE} | extend (a, b) = series_fit_line(y) | project-away y`),
    ).toEqual([expect.closeTo(0.982900730884447, 12), expect.closeTo(2.730769230769231, 12)]);
    const row = await rowOfQuery(runner, `print y = ${LINE} | project (a, b) = series_fit_line(y)`);
    expect(row.slice(2, 5)).toEqual([
      expect.closeTo(98.62878787878789, 10),
      expect.closeTo(1.686480186480187, 10),
      expect.closeTo(-1.6666666666666716, 10),
    ]);
    expect(row).toHaveLength(6);
  });

  test("have names of their own", async () => {
    const text =
      "print y = dynamic([1]) | project series_stats(series_fill_linear(y)) | getschema | project ColumnName";
    expect(await rowOfQuery(runner, `${text} | summarize strcat_array(make_list(ColumnName), ' ')`)).toEqual([
      "min min_idx max max_idx avg stdev variance"
        .split(" ")
        .map((name) => `series_stats_y_${name}`)
        .join(" "),
    ]);
  });

  test("are no values", () => {
    const complaint = complaintAbout("print y = dynamic([1]) | where series_stats(y) > 1");
    expect(complaint?.message).toContain("several columns");
    const names = "(a,b,c,d,e,f,g,h)";
    expect(complaintAbout(`print y = 1 | extend ${names} = series_stats(dynamic([1]))`)?.code).toBe(
      "WRONG_ARGUMENTS",
    );
    expect(complaintAbout("print series_stats()")?.code).toBe("WRONG_ARGUMENTS");
  });

  test("describe a series, and null where it is none", async () => {
    const numbers = "dynamic([23,46,23,87,4,8,3,75,2,56,13,75,32,16,29])";
    expect(await rowOfQuery(runner, `print x = ${numbers} | project series_stats(x)`)).toEqual([
      2,
      "8",
      87,
      "3",
      expect.closeTo(32.8, 12),
      expect.closeTo(28.50363385354827, 12),
      expect.closeTo(812.4571428571429, 10),
    ]);
    const none = [null, null, null, null, null, null, null];
    for (const odd of ["dynamic([1,null])", "dynamic([])", "dynamic('x')", "dynamic(null)", "dynamic(5)"])
      expect(await rowOfQuery(runner, `print x = ${odd} | project series_stats(x)`)).toEqual(none);
    expect(
      (await rowOfQuery(runner, "print x = dynamic([1,null]) | project series_stats(x, true)")).slice(0, 4),
    ).toEqual([1, "0", 1, "0"]);
    await expectValues([
      [
        "series_stats_dynamic(dynamic([1,3]))",
        `{"min":1.0,"min_idx":0,"max":3.0,"max_idx":1,"avg":2.0,"stdev":1.4142135623730951,"variance":2.0,"sum":4.0,"len":2}`,
      ],
      ["series_fit_line_dynamic(dynamic(['a']))", ""],
    ]);
  });

  test("cut a series into two lines where these fit best", async () => {
    const row = await rowOfQuery(
      runner,
      "print y = dynamic([0,1,2,3,10,8,6,4]) | project series_fit_2lines(y)",
    );
    expect(row.slice(0, 2)).toEqual([1, "4"]);
    expect(row[4]).toBe("[0.0,1.0,2.0,3.0,10.0,8.0,6.0,4.0]");
    // The slopes of the right and of the left line.
    expect([row[6], row[11]]).toEqual([-2, 1]);
    for (const short of ["[]", "[1]", "[1,2]", "[1,2,3]"])
      expect(
        await rowOfQuery(runner, `print y = dynamic(${short}) | project series_fit_2lines(y)`),
      ).toHaveLength(15);
  });
});

describe("two series together", () => {
  test("have a correlation, a product and an angle", () =>
    expectValues([
      ["round(series_pearson_correlation(dynamic([1,2,3,4,5]), dynamic([2,4,6,8,10])), 12)", 1],
      ["series_dot_product(dynamic([1,2]), dynamic([3,4]))", 11],
      ["round(series_cosine_similarity(dynamic([3,4]), dynamic([4,3])), 6)", 0.96],
      ["series_magnitude(dynamic([3,4]))", 5],
      ["series_sum(dynamic([1,2,3.5]))", 6.5],
      ["series_product(dynamic([2,3,4]))", 24],
      ["series_dot_product(dynamic([1,2]), dynamic([3]))", null],
      ["series_sum(dynamic(['a']))", null],
    ]));
});

describe("decomposition", () => {
  const WEEKS =
    "dynamic([80,139,87,110,68,54,50,51,53,133,86,141,97,156,94,149,95,140,77,61,50,54,47,133,72,152,94,148,105,162,101,160,87,63,53,55,54,151,103,189,108,183,113,175,113,178,90,71,62,62,65,165,109,181,115,182,121,178,114,170])";

  test("knows what repeats", async () => {
    expect(
      await rowOfQuery(runner, `print y = ${WEEKS} | project series_periods_detect(y, 0.0, 50.0, 2)`),
    ).toEqual(["[14.0,0.0]", expect.stringMatching(/^\[0\.84055587940914\d*,0\.0\]$/)]);
    expect(
      await rowOfQuery(runner, `print y = ${WEEKS} | project series_periods_validate(y, 14.0, 10.0)`),
    ).toEqual(["[14.0,10.0]", expect.stringMatching(/^\[0\.84055587940914\d*,0\.0\]$/)]);
  });

  test("takes the median of each phase for the season", () =>
    expectValues([
      [
        "series_seasonal(dynamic([2,5,3,4,3,2,1,2,3,4,3,2,1,2,3,4,3,2,1,2,3,4,3,2,1]))",
        "[1.0,2.0,3.0,4.0,3.0,2.0,1.0,2.0,3.0,4.0,3.0,2.0,1.0,2.0,3.0,4.0,3.0,2.0,1.0,2.0,3.0,4.0,3.0,2.0,1.0]",
      ],
      ["series_seasonal(dynamic([1,3,5,2,4,6,1,3,5,2,4,6]))", `[${Array(12).fill("0.0").join(",")}]`],
      ["series_seasonal(dynamic([1,2,3,10,20]), 2)", "[3.0,6.0,3.0,6.0,3.0]"],
      ["series_seasonal(dynamic([1,2]), 9)", "[0.0,0.0]"],
    ]));

  test("forecasts along the line of what does not repeat", () =>
    expectValues([
      ["series_decompose_forecast(dynamic([1,2,3,4,null]), 1)", ""],
      ["series_decompose_forecast(dynamic([1,2,3,4,0,0]), 2, 0)", "[1.0,2.0,3.0,4.0,5.0,6.0]"],
    ]));

  test("flags what is out of line, up and down", async () => {
    const flat = [...Array(10).fill("5,6"), "60", "5,6,-50,6"].join(",");
    const [flags] = await rowOfQuery(
      runner,
      `print y = dynamic([${flat}]) | extend f = series_decompose_anomalies(y, 1.5, 0) | project f`,
    );
    const expected = [...Array(20).fill(0), 1, 0, 0, -1, 0];
    expect(JSON.parse(String(flags))).toEqual(expected);
  });

  test("is null for what is no series of numbers, and for one of more points than it takes", async () => {
    for (const odd of ["dynamic([1,'a'])", "dynamic([])", "dynamic({})", "range(1, 10001, 1)"])
      expect(await rowOfQuery(runner, `print y = ${odd} | project series_decompose(y)`)).toEqual([
        "",
        "",
        "",
        "",
      ]);
    expect(
      (await rowOfQuery(runner, "print y = range(1, 10000, 1) | project series_decompose_anomalies(y)"))[0],
    ).not.toBe("");
  });

  test("names the mistake in its options", () => {
    expect(complaintAbout("print series_decompose_forecast(dynamic([1]), 1, 0, 'cubic')")?.message).toContain(
      "linefit",
    );
    expect(
      complaintAbout("print y = dynamic([1]) | extend series_decompose_anomalies(y, 1.5, 0, 'avg', 0, 'x')")
        ?.message,
    ).toContain("ctukey");
    expect(complaintAbout("print series_outliers(dynamic([1]), 'ctukey', 0, 5)")?.message).toContain(
      "Percentiles",
    );
    expect(complaintAbout("print series_decompose_forecast(dynamic([1]), -1)")?.message).toContain(
      "not negative",
    );
  });
});

describe("every function of series", () => {
  /** Values that are no series, or one of odd numbers. */
  const ODD = [
    "dynamic(null)",
    "dynamic([])",
    "dynamic([null])",
    "dynamic(['a'])",
    "dynamic({'a':1})",
    "dynamic(5)",
    "dynamic([1])",
    "dynamic([1,1,1,1,1,1,1,1,1,1])",
    "dynamic([1e308,-1e308,1e308,1e308,5])",
    "parse_json('[1e400,1,-1e400]')",
    "dynamic([[1,2],[3]])",
    "dynamic([0,0,0,0,0,0,0,0,100])",
    "dynamic(['NaN','Infinity',1])",
    "dynamic([9223372036854775807,9223372036854775807,-9223372036854775807])",
    "parse_json('[1,2')",
  ];
  const TABLE = `union ${ODD.map((value, i) => `(print i = ${i}, a = ${value}, b = ${ODD[(i * 7 + 3) % ODD.length]})`).join(", ")}`;
  const EXPRESSIONS = [
    "series_fill_linear(a)",
    "series_fill_const(a, real(nan))",
    "series_fir(a, dynamic([1,-1]))",
    "series_iir(a, dynamic([1,2]), dynamic([2,5]))",
    "series_multiply(a, b)",
    "series_divide(a, real(nan))",
    "series_less(a, b)",
    "series_outliers(a)",
    "series_pearson_correlation(a, b)",
    "series_decompose_forecast(a, 3)",
  ];
  const SEVERAL = [
    "series_fit_line(a)",
    "series_fit_2lines(a)",
    "series_stats(a, true)",
    "series_periods_detect(a, real(null), real(nan), 5)",
    "series_periods_validate(a, 14.0, real(nan))",
    "series_decompose(a, 1, 'linefit', 2)",
    "series_decompose_anomalies(a, real(nan), -1, 'linefit', 1, 'tukey', 0.0)",
  ];
  const projections = [
    `i, ${EXPRESSIONS.map((text, i) => `v${i} = ${text}`).join(", ")}`,
    ...SEVERAL.map((text) => `i, ${text}`),
  ];

  test.each(projections)("answers whatever the values are: %p", async (projection) => {
    const rows = await rowsOfQuery(runner, `${TABLE} | project ${projection}`);
    expect(rows).toHaveLength(ODD.length);
    for (const value of rows.flat())
      if (typeof value === "string" && /^[[{]/.test(value)) expect(() => JSON.parse(value)).not.toThrow();
  });
});
