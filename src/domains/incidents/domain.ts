import { on, subscribeInOrder } from "../../changes/events/subscription.ts";
import { problemCleared, problemRaised } from "../../problems/events.ts";
import type { AnalysisDependencies } from "./analysis/analyze.ts";
import { incidentAnalysisRoutes } from "./analysis/routes.ts";
import { clearProblem, raiseProblem } from "./problems.ts";
import { type IncidentRouteDependencies, incidentRoutes } from "./routes.ts";
import { Settling, type SettlingOptions } from "./settling.ts";
import { Digests } from "./storms.ts";
import { Unsilencing } from "./unsilencing.ts";

/** What others notice becomes incidents; in one order, so that what is over does not open one afterwards. */
export const incidentSubscription = subscribeInOrder("keep-incidents", [
  on(problemRaised, ({ payload }, change) => raiseProblem(change, payload)),
  on(problemCleared, ({ payload }, change) => clearProblem(change, payload)),
]);

/** What was or is wrong, and the end of what flaps. */
export function incidentDomain(deps: IncidentRouteDependencies & AnalysisDependencies & SettlingOptions) {
  const settling = new Settling(deps);
  const unsilencing = new Unsilencing(deps);
  const digests = new Digests(deps);
  return {
    routes: [...incidentRoutes(deps), ...incidentAnalysisRoutes(deps)],
    start: () => {
      settling.start();
      unsilencing.start();
      digests.start();
    },
    stop: async () => {
      await Promise.all([settling.stop(), unsilencing.stop(), digests.stop()]);
    },
  };
}
