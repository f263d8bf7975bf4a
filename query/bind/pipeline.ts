import { unitRow } from "../plan/build.ts";
import type { Relation } from "../plan/relation.ts";
import type * as syntax from "../syntax/tree.ts";
import { bindDistinct, bindExtend, bindPrint, bindProject, bindSerialize } from "./assign.ts";
import { bindGetSchema } from "./describe.ts";
import type { Environment } from "./environment.ts";
import { bindEvaluate } from "./evaluate.ts";
import { bindMvApply, bindMvExpand } from "./expand.ts";
import { ExpressionContext } from "./expression-context.ts";
import { bindInvoke } from "./invoke.ts";
import { bindJoin } from "./join.ts";
import { bindMakeSeries } from "./make-series.ts";
import { bindKeep, bindProjectAway, bindRename, bindReorder } from "./names.ts";
import { nearestName } from "./nearest-name.ts";
import { bindSample, bindSampleDistinct, bindSort, bindTake, bindTop } from "./ordering.ts";
import { bindParseKv } from "./parse-kv.ts";
import { bindParse } from "./parse-operator.ts";
import { bindRange } from "./range.ts";
import { bindReduce } from "./reduce.ts";
import { refuse } from "./refusal.ts";
import { bindSearch } from "./search.ts";
import { bindCountOperator, bindSummarize } from "./summarize.ts";
import { bindTopHitters, bindTopNested } from "./top-nested.ts";
import { bindUnion } from "./union.ts";
import { bindWhere } from "./where.ts";

/** Binds an operator that makes the rows itself: the first one of a query without a source. */
export function bindSourceOperator(operator: syntax.Operator, environment: Environment): Relation {
  switch (operator.kind) {
    case "print":
      return bindPrint(unitRow(), operator, environment);
    case "range":
      return bindRange(operator, environment);
    case "union":
      return bindUnion(null, operator, environment);
    case "search":
      return bindSearch(null, operator, environment);
    default:
      return bindOperator(scanDefault(environment, operator), operator, environment);
  }
}

/** A text that begins with an operator is about the logs. */
function scanDefault(environment: Environment, { span }: syntax.Operator): Relation {
  return environment.table({ kind: "name", name: "logs", isPattern: false, span });
}

export function bindOperator(input: Relation, operator: syntax.Operator, environment: Environment): Relation {
  environment.step(operator.span);
  switch (operator.kind) {
    case "where":
      return bindWhere(input, operator, environment);
    case "search":
      return bindSearch(input, operator, environment);
    case "extend":
      return bindExtend(input, operator, environment);
    case "project":
      return bindProject(input, operator, environment);
    case "print":
      return refuse(
        "SYNTAX",
        "print makes a row of its own; nothing stands before it.",
        operator.keyword.span,
      );
    case "serialize":
      return bindSerialize(input, operator, environment);
    case "project-away":
      return bindProjectAway(input, operator, environment);
    case "project-keep":
      return bindKeep(input, operator, environment);
    case "project-reorder":
      return bindReorder(input, operator, environment);
    case "project-rename":
      return bindRename(input, operator, new ExpressionContext(environment, input));
    case "distinct":
      return bindDistinct(input, operator, environment);
    case "summarize":
      return bindSummarize(input, operator, environment);
    case "count":
      return bindCountOperator(input, operator);
    case "take":
      return bindTake(input, operator, environment);
    case "sample":
      return bindSample(input, operator, environment);
    case "sample-distinct":
      return bindSampleDistinct(input, operator, environment);
    case "top":
      return bindTop(input, operator, environment);
    case "sort":
      return bindSort(input, operator, environment);
    case "top-nested":
      return bindTopNested(input, operator, environment);
    case "top-hitters":
      return bindTopHitters(input, operator, environment);
    case "join":
    case "lookup":
      return bindJoin(input, operator, environment);
    case "union":
      return bindUnion(input, operator, environment);
    case "as":
      environment.define(operator.name.name, { kind: "table", relation: input, isAlias: true });
      return input;
    case "invoke":
      return bindInvoke(input, operator, environment);
    case "range":
      return refuse(
        "SYNTAX",
        "range makes rows of its own; nothing stands before it.",
        operator.keyword.span,
      );
    case "parse":
    case "parse-where":
      return bindParse(input, operator, environment);
    case "parse-kv":
      return bindParseKv(input, operator, environment);
    case "mv-expand":
      return bindMvExpand(input, operator, environment);
    case "mv-apply":
      return bindMvApply(input, operator, environment);
    case "make-series":
      return bindMakeSeries(input, operator, environment);
    case "evaluate":
      return bindEvaluate(input, operator, environment);
    case "facet":
      return refuse(
        "UNSUPPORTED",
        "facet makes several tables; it stands last, after every other operator.",
        operator.span,
      );
    case "getschema":
      return bindGetSchema(input);
    case "consume":
      return refuse("UNSUPPORTED", "consume is not supported.", operator.keyword.span);
    case "reduce":
      return bindReduce(input, operator, environment);
    case "render":
      environment.compilation.render = knownChart(operator);
      return input;
    case "unsupported":
      return refuse("UNSUPPORTED", `${operator.keyword.name} is not supported.`, operator.keyword.span);
  }
}

/** What `render` may be given, as Kusto's documentation lists it. */
const CHARTS: readonly string[] =
  "anomalychart areachart barchart card columnchart ladderchart linechart piechart pivotchart plotly scatterchart stackedareachart table timechart timepivot treemap".split(
    " ",
  );

function knownChart(operator: syntax.RenderOperator): syntax.RenderOperator {
  const { name, span } = operator.chart;
  if (CHARTS.includes(name)) return operator;
  const suggestion = nearestName(name, CHARTS);
  const meant = suggestion === null ? `It is one of ${CHARTS.join(", ")}.` : `Did you mean ${suggestion}?`;
  return refuse("UNKNOWN_NAME", `There is no chart ${name}. ${meant}`, span, suggestion);
}
