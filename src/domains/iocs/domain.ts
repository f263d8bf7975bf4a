import { allowListRoutes, type IocRouteDependencies, iocRoutes } from "./routes.ts";

/** Indicators, what is let pass, and the lists that others keep. */
export function iocDomain(deps: IocRouteDependencies) {
  return { routes: [...iocRoutes(deps), ...allowListRoutes(deps)] };
}
