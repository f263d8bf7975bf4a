/** The thread of a server or a probe that makes the checks of monitors. */
import { parentPort, workerData } from "node:worker_threads";
import { Connector } from "../../outbound/connector.ts";
import { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { Browser, findBrowser } from "../browser/browser.ts";
import { createRunCheck } from "../run-check.ts";
import type { CheckSettings, FromCheckThread } from "./messages.ts";
import { runCheckThread } from "./run-check-thread.ts";

const { allow, allowPrivate, browserPath }: CheckSettings = workerData;
const policy = new OutboundPolicy({ allow, allowPrivate });
const browser = new Browser({ connector: new Connector({ policy }), path: findBrowser(browserPath) });
runCheckThread(
  createRunCheck({
    policy,
    browser,
    report: (error) => {
      const message: FromCheckThread = { kind: "fault", message: error.message };
      parentPort?.postMessage(message);
    },
  }),
);
