import { Counter, Gauge, type Registry } from "prom-client";

/** How a message came in. */
export type MessageTransport = "tcp" | "udp";

export interface MessageMetrics {
  /** What became of messages: stored, refused (the token is not valid any more), dropped (no room, or given up). */
  readonly messages: Counter<"transport" | "outcome">;
  /** Messages that were longer than the limit. */
  readonly cut: Counter;
  readonly connections: Gauge;
  /** Connections closed by the server: too_many, idle, refused. */
  readonly closed: Counter<"reason">;
  /** Times that reading stopped because messages could not be stored fast enough. */
  readonly pauses: Counter;
}

/** The metrics of a protocol, under its name. */
export function messageMetrics(registry: Registry, protocol: string): MessageMetrics {
  const registers = [registry];
  return {
    messages: new Counter({
      name: `obs_${protocol}_messages_total`,
      help: `Messages of ${protocol} by transport and outcome (stored, refused, dropped).`,
      labelNames: ["transport", "outcome"],
      registers,
    }),
    cut: new Counter({
      name: `obs_${protocol}_messages_cut_total`,
      help: `Messages of ${protocol} that were longer than the limit and were cut.`,
      registers,
    }),
    connections: new Gauge({
      name: `obs_${protocol}_connections`,
      help: `Connections that send ${protocol}.`,
      registers,
    }),
    closed: new Counter({
      name: `obs_${protocol}_connections_closed_total`,
      help: `Connections of ${protocol} that the server closed, by reason (too_many, idle, refused).`,
      labelNames: ["reason"],
      registers,
    }),
    pauses: new Counter({
      name: `obs_${protocol}_pauses_total`,
      help: "Times that a connection was not read because messages could not be stored fast enough.",
      registers,
    }),
  };
}
