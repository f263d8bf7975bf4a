import { CheckFailure } from "../check-failure.ts";
import { type HostTarget, parseHostTarget } from "../targets/host-target.ts";

/** The host and the port to connect to: the port of the monitor, else that of its target, else the usual one. Throws CheckFailure. */
export function hostAndPort(
  spec: { readonly url: string; readonly port: number | null },
  usualPort: number | null,
): HostTarget & { readonly port: number } {
  const target = parseHostTarget(spec.url);
  const port = spec.port ?? target?.port ?? usualPort;
  if (target === null || port === null) throw new CheckFailure("target_invalid");
  return { ...target, port };
}
