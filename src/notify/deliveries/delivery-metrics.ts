import { Counter, Gauge, type Registry } from "prom-client";

export interface DeliveryMetrics {
  readonly deliveries: Counter<"channel" | "outcome">;
  readonly waiting: Gauge;
  /** For how long the oldest has been due. */
  readonly oldestAgeSec: Gauge;
}

export function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry];
  return {
    deliveries: new Counter({
      name: "obs_notifications_total",
      help: "Attempts to tell a receiver, by channel and outcome (delivered, failed and tried again, refused, given_up).",
      labelNames: ["channel", "outcome"],
      registers,
    }),
    waiting: new Gauge({
      name: "obs_notifications_waiting",
      help: "Notifications that have not been tried yet.",
      registers,
    }),
    oldestAgeSec: new Gauge({
      name: "obs_notification_oldest_age_seconds",
      help: "For how long the oldest of those has been due.",
      registers,
    }),
  };
}
