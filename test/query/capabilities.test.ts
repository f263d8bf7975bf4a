import { describe, expect, test } from "bun:test";
import { compileKql, completeKql, kqlCapabilities } from "../../query/index.ts";

const NOW_NS = 1_750_000_000_000_000_000n;

function firstProblem(text: string) {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  return compiled.ok ? null : (compiled.diagnostics[0] ?? null);
}

describe("the list of capabilities", () => {
  const { operators, functions } = kqlCapabilities();

  test("says what a query meets: a function that is rejected is refused by its name and place", () => {
    const wrong = functions
      .filter(({ support }) => support === "rejected")
      .filter(({ name }) => {
        const problem = firstProblem(`print x = ${name}(1)`);
        return problem === null || !problem.message.includes(name) || problem.line !== 1;
      });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test("names every operator once, and no supported function is unknown to the compiler", () => {
    const names = operators.map(({ name }) => name);
    expect(names.length).toBe(new Set(names).size);
    const unknown = functions
      .filter(({ kind, support }) => kind === "scalar" && support !== "rejected")
      .filter(({ name }) => firstProblem(`print x = ${name}()`)?.code === "UNKNOWN_FUNCTION");
    expect(unknown.map(({ name }) => name)).toEqual([]);
  });

  test("says why wherever an answer is approximate or refused", () => {
    const silent = [...operators, ...functions].filter(({ support, note }) => support !== "exact" && !note);
    expect(silent).toEqual([]);
  });
});

describe("a diagnostic", () => {
  test.each([
    ["logs | where lenght(message) > 3", "UNKNOWN_FUNCTION", 1, 14, "lenght"],
    ["logs\n| wher level == 'error'", "UNKNOWN_OPERATOR", 2, 3, "wher"],
    ["log | count", "UNKNOWN_TABLE", 1, 1, "log"],
    ["logs | project message | where mesage has 'x'", "UNKNOWN_NAME", 1, 32, "mesage"],
    ["logs | scan with ()", "UNSUPPORTED", 1, 8, "scan"],
  ])("of %p has a code, a place and the offending text", (text, code, line, column, offending) => {
    expect(firstProblem(text)).toMatchObject({ code, line, column, text: offending });
  });

  test("suggests the nearest name", () => {
    expect(firstProblem("logs | where tolowr(message) == 'x'")?.suggestion).toBe("tolower");
    expect(firstProblem("logs | project message | where mesage has 'x'")?.suggestion).toBe("message");
    expect(firstProblem("logs | summarise count()")?.suggestion).toBe("summarize");
    expect(firstProblem("log | count")?.suggestion).toBe("logs");
  });
});

describe("completion", () => {
  const labels = (text: string, attributes: { name: string; type: string | null }[] = []) =>
    completeKql(text, text.length, { attributes }).items.map(({ label }) => label);

  test("offers operators behind a pipe, and none that would be refused", () => {
    expect(labels("logs | summ")).toContain("summarize");
    expect(labels("logs | ")).not.toContain("scan");
  });

  test("offers columns, attributes that exist, and functions in a condition", () => {
    const offered = labels("logs | where st", [{ name: "status", type: "long" }]);
    expect(offered).toContain("status");
    expect(offered).toContain("strlen");
  });
});
