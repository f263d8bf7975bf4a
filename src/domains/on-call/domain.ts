import { removeOldRotations } from "../../on-call/rotation-store.ts";
import { type OnCallDependencies, onCallRoutes } from "./routes.ts";

/** Schedules: who is on call when. */
export function onCallDomain(deps: OnCallDependencies) {
  return { routes: onCallRoutes(deps), housekeeping: [removeOldRotations] };
}
