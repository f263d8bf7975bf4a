/** A real rsyslog ships to a real server: over TCP in both framings and over UDP. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../../../harness/eventually.ts";
import { serverPort } from "../../../../harness/server-port.ts";
import { makeToken, startServer } from "../../../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../../../harness/stores.ts";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";

const RSYSLOG = Bun.which("rsyslogd", { PATH: `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin` });
if (RSYSLOG === null) process.stderr.write("skipped: no rsyslogd on this machine (Debian package rsyslog)\n");

let stores: TestStores;
beforeAll(async () => {
  if (RSYSLOG !== null) stores = await openTestStores();
});
afterAll(async () => {
  if (RSYSLOG !== null) await stores.close();
});

/** A configuration that reads datagrams on one port and sends them on in one way. */
function configuration(inputPort: number, action: string, directory: string): string {
  return `global(workDirectory="${directory}")
module(load="imudp")
input(type="imudp" address="127.0.0.1" port="${inputPort}")
*.* action(type="omfwd" target="127.0.0.1" ${action})
`;
}

test.skipIf(RSYSLOG === null)(
  "what rsyslog forwards is stored with its host, program and severity",
  async () => {
    using directory = temporaryDirectory();
    const env = { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl };
    const first = await startServer({ dataDirectory: join(directory.path, "data"), env });
    const token = await makeToken(first.url);
    expect(await first.stop()).toBe(0);
    const [tcpPort, udpPort] = [await serverPort(), await serverPort()];
    const server = await startServer({
      dataDirectory: join(directory.path, "data"),
      env: {
        ...env,
        SYSLOG_TCP_PORT: String(tcpPort),
        SYSLOG_UDP_PORT: String(udpPort),
        SYSLOG_TOKEN: token,
      },
    });
    const actions = [
      `port="${tcpPort}" protocol="tcp" TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"`,
      `port="${tcpPort}" protocol="tcp" TCP_Framing="traditional" template="RSYSLOG_TraditionalForwardFormat"`,
      `port="${udpPort}" protocol="udp" template="RSYSLOG_ForwardFormat"`,
    ];
    const socket = createSocket("udp4");
    // As long as the daemon does not listen yet.
    socket.on("error", () => undefined);
    const daemons: { kill(): void; readonly exited: Promise<number> }[] = [];
    try {
      for (const [i, action] of actions.entries()) {
        const inputPort = await serverPort();
        const file = join(directory.path, `rsyslog-${i}.conf`);
        writeFileSync(file, configuration(inputPort, action, directory.path));
        const pidFile = join(directory.path, `rsyslog-${i}.pid`);
        daemons.push(
          Bun.spawn([RSYSLOG ?? "", "-n", "-f", file, "-i", pidFile], { stdout: "ignore", stderr: "ignore" }),
        );
        const message = `<11>Oct 11 22:14:15 web-1 shop[7]: order ${i} – größe`;
        await eventually(`message ${i}`, async () => {
          socket.send(message, inputPort, "127.0.0.1", () => undefined);
          const found = await stores.clickhouse.query({
            query: `SELECT host, service, level, attrs['syslog.procid'] AS procid FROM logs
                    WHERE message = {message: String} LIMIT 1`,
            query_params: { message: `order ${i} – größe` },
            format: "JSONEachRow",
          });
          const [row] = await found.json();
          if (row === undefined) return false;
          expect(row).toEqual({ host: "web-1", service: "shop", level: "error", procid: "7" });
          return true;
        });
      }
    } finally {
      socket.close();
      for (const daemon of daemons) daemon.kill();
      await Promise.all(daemons.map(({ exited }) => exited));
      expect(await server.stop()).toBe(0);
    }
  },
);
