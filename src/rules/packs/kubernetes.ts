import { EACH, type Pack, type PackRule, type SampleEntry } from "./pack.ts";
import { apiRequest } from "./samples.ts";

/** What a request of the API server is written as: `@` stands before each of its fields. */
interface RequestRule extends Omit<PackRule, "kql"> {
  readonly request: string;
}

const WHO = { groupBy: ["userName"] } as const;
const GRANTED = "@responseStatus.code < 400";
/** Controllers act all day; the accounts of programs outside of kube-system do not count among them. */
const NO_CONTROLLER =
  'not(@user.username startswith "system:serviceaccount:kube-system:") and not(@user.username startswith "system:" and not(@user.username startswith "system:serviceaccount:"))';
const POD = `@objectRef.resource == "pods" and @verb == "create" and isempty(@objectRef.subresource) and ${GRANTED} and ${NO_CONTROLLER}`;
const EXEC = `@objectRef.resource == "pods" and @objectRef.subresource in ("exec", "attach") and @verb in ("create", "get")`;
const ROLE = `@objectRef.resource in ("roles", "clusterroles") and @verb in ("create", "patch") and ${GRANTED} and ${NO_CONTROLLER}`;

const pod = (spec: Readonly<Record<string, unknown>>): SampleEntry =>
  apiRequest("create", "pods", { requestObject: { spec } });
const exec = (...command: readonly string[]): SampleEntry =>
  apiRequest("create", "pods", {
    ...{ objectRef: { resource: "pods", subresource: "exec" }, responseStatus: { code: 101 } },
    requestObject: { command },
  });
const role = (...resources: readonly string[]): SampleEntry =>
  apiRequest("create", "clusterroles", { requestObject: { rules: [{ resources, verbs: ["get"] }] } });

const RULES: readonly RequestRule[] = [
  {
    id: "k8s-anonymous-allowed",
    name: "The API server answered nobody in particular",
    description:
      "A request without a credential was answered. See what was asked and by which rule it is allowed.",
    ...{ severity: "high", attackTechnique: "T1078.001", ...EACH, groupBy: ["sourceAddress"] },
    request: String.raw`@user.username == "system:anonymous" and ${GRANTED} and not(@requestURI in ("/healthz", "/livez", "/readyz", "/version")) and not(tostring(@sourceIPs) contains "\"127.0.0.1\"")`,
    counts: apiRequest("get", "pods", { user: { username: "system:anonymous" } }),
    leaves: apiRequest("get", "pods", {
      ...{ user: { username: "system:anonymous" }, responseStatus: { code: 403 } },
    }),
  },
  {
    id: "k8s-shell-in-container",
    name: "A shell was opened in a container",
    description: "Somebody works inside of a pod. Expected while repairing; anywhere else ask who it is.",
    ...{ severity: "medium", attackTechnique: "T1609", ...EACH, ...WHO },
    request: EXEC,
    counts: exec("sh"),
    leaves: apiRequest("get", "pods", { objectRef: { resource: "pods", subresource: "log" } }),
  },
  {
    id: "k8s-files-copied-out",
    name: "Files were copied out of a container",
    description: "An archive was written to the outside. See which files, and change what was secret.",
    ...{ severity: "medium", attackTechnique: "T1530", ...EACH, ...WHO },
    request: String.raw`${EXEC} and ${GRANTED} and ${NO_CONTROLLER} and (@requestURI contains "command=tar&command=cf" or tostring(@requestObject.command) startswith "[\"tar\",\"cf\"")`,
    counts: exec("tar", "cf", "-", "/srv/app/config"),
    leaves: exec("tar", "xf", "-", "-C", "/tmp"),
  },
  {
    id: "k8s-token-of-pod-read",
    name: "The token of a pod's account was read by a command",
    description: "Whoever ran it can act as the pod. Delete the pod, and see what the token was used for.",
    ...{ severity: "high", attackTechnique: "T1552.007", ...EACH, ...WHO },
    request: `${EXEC} and ${GRANTED} and not(@user.username startswith "system:" and @objectRef.namespace == "kube-system") and tostring(@requestObject.command) contains "/var/run/secrets/"`,
    counts: exec("cat", "/var/run/secrets/kubernetes.io/serviceaccount/token"),
    leaves: exec("cat", "/etc/hostname"),
  },
  {
    id: "k8s-secrets-listed",
    name: "Secrets were listed",
    description: "Whoever lists secrets has all of them. See whether the account has to.",
    ...{ severity: "high", attackTechnique: "T1552.007", threshold: 3, windowSec: 300, ...WHO },
    request:
      '@objectRef.resource == "secrets" and @verb in ("list", "watch") and not(@user.username startswith "system:")',
    counts: apiRequest("list", "secrets", { responseStatus: { code: 200 } }),
    leaves: apiRequest("list", "secrets", { user: { username: "system:kube-controller-manager" } }),
  },
  {
    id: "k8s-secrets-refused",
    name: "An account asks for secrets that it may not read",
    description: "Somebody tries names and rights. See which pod or person it is.",
    ...{ severity: "medium", attackTechnique: "T1552.007", threshold: 3, windowSec: 300, ...WHO },
    request: `@objectRef.resource == "secrets" and @verb == "get" and @responseStatus.code in (401, 403, 404) and ${NO_CONTROLLER}`,
    counts: apiRequest("get", "secrets", { responseStatus: { code: 403 } }),
    leaves: apiRequest("get", "secrets", { responseStatus: { code: 200 } }),
  },
  {
    id: "k8s-cluster-admin-bound",
    name: "The role of the cluster's administrator was given",
    description: "Somebody may do everything in the cluster. See who it is and who gave it.",
    ...{ severity: "critical", attackTechnique: "T1098.006", ...EACH, ...WHO },
    request:
      '@objectRef.resource == "clusterrolebindings" and @verb in ("create", "update", "patch") and @requestObject.roleRef.name == "cluster-admin"',
    counts: apiRequest("create", "clusterrolebindings", {
      requestObject: { roleRef: { name: "cluster-admin" } },
    }),
    leaves: apiRequest("create", "clusterrolebindings", { requestObject: { roleRef: { name: "view" } } }),
  },
  {
    id: "k8s-privileged-pod",
    name: "A pod with the rights of its node was made",
    description: "What runs in it can leave the container. See which image it is and who made it.",
    ...{ severity: "high", attackTechnique: "T1611", ...EACH, ...WHO },
    request: String.raw`${POD} and tostring(@requestObject.spec.containers) contains "\"privileged\":true"`,
    counts: pod({ containers: [{ securityContext: { privileged: true } }] }),
    leaves: pod({ containers: [{ securityContext: { privileged: false } }] }),
  },
  {
    id: "k8s-capable-pod",
    name: "A pod with dangerous capabilities was made",
    description: "It may load modules, trace processes or change networks of its node. See who needs that.",
    ...{ severity: "high", attackTechnique: "T1611", ...EACH, ...WHO },
    request: String.raw`${POD} and tostring(@requestObject.spec.containers) matches regex "\"(SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|NET_ADMIN|BPF|DAC_READ_SEARCH|ALL)\""`,
    counts: pod({ containers: [{ securityContext: { capabilities: { add: ["SYS_ADMIN"] } } }] }),
    leaves: pod({ containers: [{ securityContext: { capabilities: { add: ["CHOWN"] } } }] }),
  },
  {
    id: "k8s-host-processes-pod",
    name: "A pod that sees the processes of its node was made",
    description: "It can read what other containers hold in memory. See who needs that.",
    ...{ severity: "high", attackTechnique: "T1611", ...EACH, ...WHO },
    request: `${POD} and tobool(@requestObject.spec.hostPID) == true`,
    counts: pod({ hostPID: true }),
    leaves: pod({ hostPID: false }),
  },
  {
    id: "k8s-host-memory-pod",
    name: "A pod that shares memory with its node was made",
    description: "It can read and change what processes of the node exchange. See who needs that.",
    ...{ severity: "medium", attackTechnique: "T1611", ...EACH, ...WHO },
    request: `${POD} and tobool(@requestObject.spec.hostIPC) == true`,
    counts: pod({ hostIPC: true }),
    leaves: pod({ hostIPC: false }),
  },
  {
    id: "k8s-host-network-pod",
    name: "A pod in the network of its node was made",
    description: "It reaches what only the node should, and hears its traffic. See who needs that.",
    ...{ severity: "medium", attackTechnique: "T1611", ...EACH, ...WHO },
    request: `${POD} and tobool(@requestObject.spec.hostNetwork) == true`,
    counts: pod({ hostNetwork: true }),
    leaves: pod({ hostNetwork: false }),
  },
  {
    id: "k8s-host-folder-pod",
    name: "A pod with a sensitive folder of its node was made",
    description: "It can change what the node runs, or read the credentials of others. See who needs that.",
    ...{ severity: "high", attackTechnique: "T1611", ...EACH, ...WHO },
    request: String.raw`${POD} and tostring(@requestObject.spec.volumes) matches regex "\"hostPath\":\\{[^}]*\"path\":\"(/|/etc[^\"]*|/root[^\"]*|/var/lib/kubelet[^\"]*|/var/run/[a-z]*\\.sock|/proc[^\"]*)\""`,
    counts: pod({ volumes: [{ hostPath: { path: "/var/lib/kubelet" } }] }),
    leaves: pod({ volumes: [{ hostPath: { path: "/data" } }] }),
  },
  {
    id: "k8s-daemon-on-all-nodes",
    name: "Something was set to run on every node",
    description: "A daemon set reaches all nodes, new ones too. See which image it is and who made it.",
    ...{ severity: "medium", attackTechnique: "T1610", ...EACH, ...WHO },
    request: `@objectRef.resource == "daemonsets" and @verb == "create" and ${GRANTED} and ${NO_CONTROLLER}`,
    counts: apiRequest("create", "daemonsets"),
    leaves: apiRequest("update", "daemonsets"),
  },
  {
    id: "k8s-job-scheduled",
    name: "A job was set to run again and again",
    description: "It comes back after everything else is cleaned up. See what it runs and who made it.",
    ...{ severity: "low", attackTechnique: "T1053.007", ...EACH, ...WHO },
    request: `@objectRef.resource == "cronjobs" and @verb == "create" and ${GRANTED} and ${NO_CONTROLLER}`,
    counts: apiRequest("create", "cronjobs"),
    leaves: apiRequest("update", "cronjobs"),
  },
  {
    id: "k8s-certificate-asked",
    name: "A certificate for signing in to the cluster was asked for",
    description: "It cannot be taken back before it ends. See for whom it is, and refuse it otherwise.",
    ...{ severity: "medium", attackTechnique: "T1098", ...EACH, ...WHO },
    request: `@objectRef.resource == "certificatesigningrequests" and @verb == "create" and ${GRANTED} and ${NO_CONTROLLER} and @requestObject.spec.signerName == "kubernetes.io/kube-apiserver-client"`,
    counts: apiRequest("create", "certificatesigningrequests", {
      requestObject: { spec: { signerName: "kubernetes.io/kube-apiserver-client" } },
    }),
    leaves: apiRequest("create", "certificatesigningrequests", {
      requestObject: { spec: { signerName: "kubernetes.io/kubelet-serving" } },
    }),
  },
  {
    id: "k8s-account-token-made",
    name: "A token of a program's account was made",
    description: "It works from everywhere until it ends. See who asked for it, and for which account.",
    ...{ severity: "medium", attackTechnique: "T1098.001", ...EACH, ...WHO },
    request: `@objectRef.resource == "serviceaccounts" and @objectRef.subresource == "token" and @verb == "create" and ${GRANTED} and not(@user.username startswith "system:node:") and not(@user.username startswith "system:" and @objectRef.namespace == "kube-system")`,
    counts: apiRequest("create", "serviceaccounts", {
      objectRef: { resource: "serviceaccounts", subresource: "token", namespace: "shop" },
    }),
    leaves: apiRequest("create", "serviceaccounts"),
  },
  {
    id: "k8s-role-reaches-nodes",
    name: "A role may reach into nodes",
    description: "By the proxy of a node somebody runs commands in every pod of it. Narrow the role.",
    ...{ severity: "high", attackTechnique: "T1098.006", ...EACH, ...WHO },
    request: String.raw`${ROLE} and tostring(@requestObject.rules) matches regex "\"resources\":\\[[^\\]]*(\"nodes/(proxy|\\*)\"|\"nodes\",\"\\*\")"`,
    counts: role("nodes/proxy"),
    leaves: role("nodes"),
  },
  {
    id: "k8s-role-opens-shells",
    name: "A role may open shells in pods",
    description: "Who has it gets the secrets of the pods. See who is bound to it.",
    ...{ severity: "medium", attackTechnique: "T1098.006", ...EACH, ...WHO },
    request: String.raw`${ROLE} and tostring(@requestObject.rules) contains "\"pods/exec\""`,
    counts: role("pods/exec"),
    leaves: role("pods", "pods/log"),
  },
  {
    id: "k8s-port-of-nodes-opened",
    name: "A service was opened on a port of all nodes",
    description: "It may be reached past balancers and firewalls. See what answers there.",
    ...{ severity: "medium", attackTechnique: "T1190", ...EACH, ...WHO },
    request: `@objectRef.resource == "services" and @verb == "create" and ${GRANTED} and @requestObject.spec.type == "NodePort"`,
    counts: apiRequest("create", "services", { requestObject: { spec: { type: "NodePort" } } }),
    leaves: apiRequest("create", "services", { requestObject: { spec: { type: "ClusterIP" } } }),
  },
  {
    id: "k8s-webhook-changed",
    name: "What judges requests to the cluster was changed",
    description: "An admission webhook sees and changes all that is made. See where it leads.",
    ...{ severity: "medium", attackTechnique: "T1562", ...EACH, ...WHO },
    request: `@objectRef.resource in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations") and @verb in ("create", "delete", "patch", "update") and ${GRANTED} and ${NO_CONTROLLER}`,
    counts: apiRequest("delete", "validatingwebhookconfigurations", { responseStatus: { code: 200 } }),
    leaves: apiRequest("list", "validatingwebhookconfigurations", { responseStatus: { code: 200 } }),
  },
  {
    id: "k8s-acted-as-another",
    name: "Somebody acted as another user",
    description: "The right to do so is the rights of everybody. See as whom, and why.",
    ...{ severity: "medium", attackTechnique: "T1134", ...EACH, ...WHO },
    request: `isnotempty(@impersonatedUser.username) and ${GRANTED} and ${NO_CONTROLLER}`,
    counts: apiRequest("get", "pods", { impersonatedUser: { username: "kim" } }),
    leaves: apiRequest("get", "pods"),
  },
];

const inEntry = ({ request, ...rule }: RequestRule): PackRule => ({
  ...rule,
  kql: request.replaceAll("@", ""),
});

const AKS_LOG = "parse_json(tostring(properties.log))";

/** Azure sends the request as a text of JSON inside of its own record. */
function inAzureRecord({ request, id, name, counts, leaves, ...rule }: RequestRule): PackRule {
  const wrapped = ({ attrs }: SampleEntry): SampleEntry => ({
    message: "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read",
    service: "kube-audit",
    attrs: { category: "kube-audit", properties: { log: JSON.stringify(attrs) } },
  });
  return {
    ...{ ...rule, groupBy: [], id: id.replace("k8s-", "aks-"), name: `AKS: ${name}` },
    kql: `category in ("kube-audit", "kube-audit-admin") and (${request.replaceAll("@", `${AKS_LOG}.`)})`,
    ...{ counts: wrapped(counts), leaves: wrapped(leaves) },
  };
}

export const KUBERNETES: Pack = {
  id: "kubernetes",
  name: "Kubernetes",
  description: "The audit log of the API server: who does what in the cluster.",
  expects: {
    sources: "the audit log of Kubernetes (own clusters, EKS), by a source with the preset kubernetes-audit",
    kql: "isnotempty(objectRef.resource) and isnotempty(verb)",
  },
  rules: RULES.map(inEntry),
};

export const KUBERNETES_AKS: Pack = {
  id: "kubernetes-aks",
  name: "Kubernetes in Azure",
  description: "The audit log of AKS clusters, as diagnostic settings send it.",
  expects: {
    sources:
      "the categories kube-audit or kube-audit-admin of AKS, by a source with the preset azure-activity",
    kql: 'category in ("kube-audit", "kube-audit-admin")',
  },
  rules: RULES.map(inAzureRecord),
};
