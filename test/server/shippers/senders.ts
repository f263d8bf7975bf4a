/** Senders of docs/shippers.md that no package of the system brings in a form that can stand beside the others. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

interface Sender {
  /** Programs without which it can neither be installed nor run. */
  readonly needs: readonly string[];
  /** Installs it into the working directory. */
  readonly script: string;
  /** Installed only when it is asked for by name. */
  readonly onDemand?: boolean;
}

export type SenderName = "python" | "go" | "java" | "syslog-ng" | "collector";

const COLLECTOR = "0.161.0";

export const SENDERS: Readonly<Record<SenderName, Sender>> = {
  python: {
    needs: ["python3"],
    script: `python3 -m venv .
bin/pip install --quiet opentelemetry-exporter-otlp-proto-http==1.45.2 python-json-logger==4.2.0`,
  },
  go: {
    needs: ["go"],
    // The packages are built once, so that a test builds its own few lines.
    script: `go mod init checkout
go get go.opentelemetry.io/contrib/bridges/otelslog@v0.21.0 go.opentelemetry.io/otel/sdk@v1.47.0 \\
  go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp@v0.23.0 go.opentelemetry.io/otel/sdk/log@v1.47.0
go build log/slog go.opentelemetry.io/contrib/bridges/otelslog go.opentelemetry.io/otel/sdk/log \\
  go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp`,
  },
  java: {
    needs: ["java", "javac", "mvn"],
    script: `cat > pom.xml <<'END'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>senders</groupId> <artifactId>java</artifactId> <version>1</version>
  <dependencies>
    ${dependency("ch.qos.logback", "logback-classic", "1.5.18")}
    ${dependency("io.opentelemetry", "opentelemetry-sdk-extension-autoconfigure", "1.53.0")}
    ${dependency("io.opentelemetry", "opentelemetry-exporter-otlp", "1.53.0")}
    ${dependency("io.opentelemetry.instrumentation", "opentelemetry-logback-appender-1.0", "2.19.0-alpha")}
  </dependencies>
</project>
END
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars`,
  },
  // As a package it would take the place of rsyslog.
  "syslog-ng": {
    needs: ["apt-get", "dpkg"],
    script: `apt-get download -q syslog-ng-core syslog-ng-mod-http libivykis0 libnet1 libwrap0 libpcre3 libjson-c5
for package in *.deb; do dpkg -x "$package" .; done
cat > syslog-ng <<END
#!/bin/sh
LD_LIBRARY_PATH=$PWD/usr/lib/syslog-ng:\\$(echo $PWD/usr/lib/*-linux-gnu):\\$(echo $PWD/lib/*-linux-gnu)
export LD_LIBRARY_PATH
exec $PWD/usr/sbin/syslog-ng --module-path=\\$(echo $PWD/usr/lib/syslog-ng/[0-9]*) "\\$@"
END
chmod +x syslog-ng
./syslog-ng --version > /dev/null`,
  },
  // Minutes of a processor.
  collector: {
    needs: ["go"],
    onDemand: true,
    script: `GOBIN=$PWD go install go.opentelemetry.io/collector/cmd/builder@v${COLLECTOR}
cat > builder.yaml <<END
dist: { name: otelcol, output_path: ./built }
receivers: [{ gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v${COLLECTOR} }]
exporters: [{ gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v${COLLECTOR} }]
END
./builder --config builder.yaml
mv built/otelcol otelcol`,
  },
};

function dependency(group: string, artifact: string, version: string): string {
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
}

/** The file that an installation leaves when it is whole. */
export const INSTALLED = ".installed";

/** Where a sender is once it is installed. Another script is another folder. */
export function folderOf(name: SenderName): string {
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return join(caches, "obs-senders", `${name}-${Bun.hash(SENDERS[name].script).toString(36)}`);
}

/** Where a sender is installed, or null. */
export function installed(name: SenderName): string | null {
  const folder = folderOf(name);
  const isWhole = existsSync(join(folder, INSTALLED));
  return isWhole && SENDERS[name].needs.every((program) => Bun.which(program) !== null) ? folder : null;
}
