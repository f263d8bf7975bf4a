import type { SampleEntry } from "./pack.ts";

type Attributes = Readonly<Record<string, unknown>>;

/** A call of CloudTrail by the service's short name. */
export function cloudTrail(eventName: string, service: string, attrs: Attributes = {}): SampleEntry {
  return {
    message: `${eventName} by arn:aws:iam::111122223333:user/ana`,
    attrs: {
      ...{ eventVersion: "1.09", recipientAccountId: "111122223333", sourceIPAddress: "203.0.113.7" },
      ...{ eventName, eventSource: `${service}.amazonaws.com` },
      userIdentity: { type: "IAMUser", userName: "ana", accountId: "111122223333" },
      ...attrs,
    },
  };
}

/** A call that CloudTrail says was refused. */
export function refusedCall(eventName: string, service: string, attrs: Attributes = {}): SampleEntry {
  return cloudTrail(eventName, service, { ...attrs, errorCode: "AccessDenied" });
}

/** An operation of the Azure activity log. */
export function azureOperation(operationName: string, attrs: Attributes = {}): SampleEntry {
  return {
    message: `${operationName} Success`,
    attrs: {
      ...{ operationName, resultType: "Success", callerIpAddress: "203.0.113.7" },
      resourceId: "/subscriptions/0b1c2d3e/resourceGroups/shop",
      ...attrs,
    },
  };
}

/** An audited call of Google Cloud. */
export function googleCall(methodName: string, payload: Attributes = {}): SampleEntry {
  return {
    message: methodName,
    attrs: {
      protoPayload: {
        methodName,
        authenticationInfo: { principalEmail: "ana@example.com" },
        requestMetadata: { callerIp: "203.0.113.7" },
        ...payload,
      },
    },
  };
}

/** What a call of Google Cloud needed, and whether the caller had it. */
export function googlePermission(permission: string, granted = true): Attributes {
  return { authorizationInfo: [{ permission, granted }] };
}

/** A request of the Kubernetes API server's audit log. */
export function apiRequest(verb: string, resource: string, attrs: Attributes = {}): SampleEntry {
  return {
    message: `ana ${verb} ${resource}`,
    attrs: {
      verb,
      objectRef: { resource, namespace: "shop" },
      user: { username: "ana" },
      responseStatus: { code: 201 },
      ...attrs,
    },
  };
}
