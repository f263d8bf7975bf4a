import { EACH, type Pack, type PackRule, type SampleEntry } from "./pack.ts";
import { googleCall, googlePermission } from "./samples.ts";

const BASE = { ...EACH, groupBy: ["userName"] } as const;
const GRANTED = String.raw`tostring(protoPayload.authorizationInfo) contains "\"granted\":true" and not(protoPayload.response.status =~ "Failure" or protoPayload.response.kind == "Status")`;
const POD = `protoPayload.methodName == "io.k8s.core.v1.pods.create" and ${GRANTED}`;

const call = (method: string, request: object = {}, granted = true): SampleEntry =>
  googleCall(`io.k8s.${method}`, { ...googlePermission(`io.k8s.${method}`, granted), request });
const pod = (spec: object): SampleEntry => call("core.v1.pods.create", { spec });
const exec = (...command: readonly string[]): SampleEntry => call("core.v1.pods.exec.create", { command });
const role = (...resources: readonly string[]): SampleEntry =>
  call("rbac.v1.clusterroles.create", { rules: [{ resources }] });

/** Not all clusters log the pods' settings with `granted`: what was asked for is enough then. */
const podRule = (
  rule: Pick<PackRule, "id" | "name" | "description" | "severity" | "counts" | "leaves">,
  kql: string,
): PackRule => ({ ...rule, ...BASE, attackTechnique: "T1611", kql: `${POD} and ${kql}` });

export const KUBERNETES_GKE: Pack = {
  id: "kubernetes-gke",
  name: "Kubernetes in Google Cloud",
  description: "The audit log of GKE clusters, as Cloud Logging has it.",
  expects: {
    sources: "audit logs of GKE, by a source with the preset gcp-audit",
    kql: 'protoPayload.methodName startswith "io.k8s."',
  },
  rules: [
    {
      id: "gke-anonymous-allowed",
      name: "A cluster in Google Cloud answered nobody in particular",
      description: "A request without a credential was answered. See by which binding it is allowed.",
      ...{ severity: "high", attackTechnique: "T1078.001", ...EACH, groupBy: ["sourceAddress"] },
      kql: `(protoPayload.authenticationInfo.principalEmail == "system:anonymous" or protoPayload.authenticationInfo.authoritySelector == "system:anonymous") and ${GRANTED} and not(protoPayload.requestMetadata.callerSuppliedUserAgent startswith "GoogleHC")`,
      counts: googleCall("io.k8s.core.v1.pods.get", {
        ...googlePermission("io.k8s.core.v1.pods.get"),
        authenticationInfo: { principalEmail: "system:anonymous" },
      }),
      leaves: call("core.v1.pods.get"),
    },
    {
      id: "gke-shell-in-container",
      name: "A shell was opened in a container of Google Cloud",
      description: "Somebody works inside of a pod. Expected while repairing; anywhere else ask.",
      ...{ severity: "medium", attackTechnique: "T1609", ...BASE },
      kql: 'protoPayload.methodName startswith "io.k8s.core.v1.pods.exec" or protoPayload.methodName startswith "io.k8s.core.v1.pods.attach"',
      counts: exec("sh"),
      leaves: call("core.v1.pods.get"),
    },
    {
      id: "gke-files-copied-out",
      name: "Files were copied out of a container of Google Cloud",
      description: "An archive was written to the outside. See which files, and change what was secret.",
      ...{ severity: "medium", attackTechnique: "T1530", ...BASE },
      kql: String.raw`protoPayload.methodName startswith "io.k8s.core.v1.pods.exec" and ${GRANTED} and tostring(protoPayload.request.command) startswith "[\"tar\",\"cf\""`,
      counts: exec("tar", "cf", "-", "/srv"),
      leaves: exec("tar", "xf", "-"),
    },
    {
      id: "gke-token-of-pod-read",
      name: "The token of a pod of Google Cloud was read by a command",
      description: "Whoever ran it can act as the pod. Delete the pod, and see what the token was used for.",
      ...{ severity: "high", attackTechnique: "T1552.007", ...BASE },
      kql: `protoPayload.methodName startswith "io.k8s.core.v1.pods.exec" and ${GRANTED} and tostring(protoPayload.request.command) contains "/var/run/secrets/"`,
      counts: exec("cat", "/var/run/secrets/kubernetes.io/serviceaccount/token"),
      leaves: exec("cat", "/etc/hostname"),
    },
    {
      id: "gke-secrets-refused",
      name: "An account asks for secrets of Google Cloud's cluster in vain",
      description: "Somebody tries names and rights. See which pod or person it is.",
      ...{ severity: "medium", attackTechnique: "T1552.007", threshold: 3, windowSec: 300 },
      groupBy: ["userName"],
      kql: 'protoPayload.methodName == "io.k8s.core.v1.secrets.get" and protoPayload.status.code in (5, 7, 16)',
      counts: googleCall("io.k8s.core.v1.secrets.get", { status: { code: 7 } }),
      leaves: googleCall("io.k8s.core.v1.secrets.get", { status: {} }),
    },
    podRule(
      {
        id: "gke-privileged-pod",
        name: "A pod with the rights of its node was made in Google Cloud",
        description: "What runs in it can leave the container. See which image it is and who made it.",
        severity: "high",
        counts: pod({ containers: [{ securityContext: { privileged: true } }] }),
        leaves: pod({ containers: [{ securityContext: { privileged: false } }] }),
      },
      String.raw`tostring(protoPayload.request.spec.containers) contains "\"privileged\":true"`,
    ),
    podRule(
      {
        id: "gke-capable-pod",
        name: "A pod with dangerous capabilities was made in Google Cloud",
        description:
          "It may load modules, trace processes or change networks of its node. See who needs that.",
        severity: "high",
        counts: pod({ containers: [{ securityContext: { capabilities: { add: ["BPF"] } } }] }),
        leaves: pod({ containers: [{ securityContext: { capabilities: { add: ["CHOWN"] } } }] }),
      },
      String.raw`tostring(protoPayload.request.spec.containers) matches regex "\"(SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|NET_ADMIN|BPF|DAC_READ_SEARCH|ALL)\""`,
    ),
    podRule(
      {
        id: "gke-host-pod",
        name: "A pod in the namespaces of its node was made in Google Cloud",
        description: "It shares processes, memory or network with the node. See who needs that.",
        severity: "high",
        counts: pod({ hostPID: true }),
        leaves: pod({ hostPID: false }),
      },
      "(tobool(protoPayload.request.spec.hostPID) == true or tobool(protoPayload.request.spec.hostIPC) == true or tobool(protoPayload.request.spec.hostNetwork) == true)",
    ),
    podRule(
      {
        id: "gke-host-folder-pod",
        name: "A pod with a sensitive folder of its node was made in Google Cloud",
        description: "It can change what the node runs, or read credentials of others. See who needs that.",
        severity: "high",
        counts: pod({ volumes: [{ hostPath: { path: "/etc/kubernetes" } }] }),
        leaves: pod({ volumes: [{ hostPath: { path: "/data" } }] }),
      },
      String.raw`tostring(protoPayload.request.spec.volumes) matches regex "\"hostPath\":\\{[^}]*\"path\":\"(/|/etc[^\"]*|/root[^\"]*|/var/lib/kubelet[^\"]*|/var/run/[a-z]*\\.sock|/proc[^\"]*)\""`,
    ),
    {
      id: "gke-daemon-on-all-nodes",
      name: "Something was set to run on every node of Google Cloud's cluster",
      description: "A daemon set reaches all nodes, new ones too. See which image it is and who made it.",
      ...{ severity: "medium", attackTechnique: "T1610", ...BASE },
      kql: `protoPayload.methodName == "io.k8s.apps.v1.daemonsets.create" and ${GRANTED}`,
      counts: call("apps.v1.daemonsets.create"),
      leaves: call("apps.v1.daemonsets.create", {}, false),
    },
    {
      id: "gke-certificate-asked",
      name: "A certificate for signing in to Google Cloud's cluster was asked for",
      description: "It cannot be taken back before it ends. See for whom it is.",
      ...{ severity: "medium", attackTechnique: "T1098", ...BASE },
      kql: `protoPayload.methodName == "io.k8s.certificates.v1.certificatesigningrequests.create" and ${GRANTED} and protoPayload.request.spec.signerName == "kubernetes.io/kube-apiserver-client"`,
      counts: call("certificates.v1.certificatesigningrequests.create", {
        spec: { signerName: "kubernetes.io/kube-apiserver-client" },
      }),
      leaves: call("certificates.v1.certificatesigningrequests.create", {
        spec: { signerName: "kubernetes.io/kubelet-serving" },
      }),
    },
    {
      id: "gke-role-widened",
      name: "A role of Google Cloud's cluster may open shells or reach nodes",
      description: "Who has it gets the secrets of pods. See who is bound to it.",
      ...{ severity: "high", attackTechnique: "T1098.006", ...BASE },
      kql: String.raw`protoPayload.methodName in ("io.k8s.rbac.v1.clusterroles.create", "io.k8s.rbac.v1.roles.create") and ${GRANTED} and tostring(protoPayload.request.rules) matches regex "\"(pods/exec|nodes/proxy|nodes/\\*)\""`,
      counts: role("pods", "pods/exec"),
      leaves: role("pods"),
    },
    {
      id: "gke-port-of-nodes-opened",
      name: "A service was opened on all nodes of Google Cloud's cluster",
      description: "It may be reached past balancers and firewalls. See what answers there.",
      ...{ severity: "medium", attackTechnique: "T1190", ...BASE },
      kql: `protoPayload.methodName == "io.k8s.core.v1.services.create" and ${GRANTED} and protoPayload.request.spec.type == "NodePort"`,
      counts: call("core.v1.services.create", { spec: { type: "NodePort" } }),
      leaves: call("core.v1.services.create", { spec: { type: "ClusterIP" } }),
    },
  ],
};
