import { UnreachableError } from "./errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  ECONNABORTED: "the connection was aborted",
  EPIPE: "the connection was closed",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ETIMEDOUT: "the connection timed out",
};

/** OpenSSL's verdicts on a certificate, and the runtime's own on its name: waiting does not change them. */
const CERTIFICATE_CODE = /CERT|UNABLE_TO_|SELF_SIGNED|^ERR_TLS_|^ERR_SSL_/;

/** Says in one line why a request got no answer. */
export function unreachable(baseUrl: string, error: unknown): UnreachableError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const text = error instanceof Error ? error.message : String(error);
  if (CERTIFICATE_CODE.test(code))
    return new UnreachableError(`the certificate of ${baseUrl} is not accepted: ${text}`, {
      retryable: false,
      cause: error,
    });
  return new UnreachableError(`cannot reach ${baseUrl}: ${WORDS[code] ?? text}`, {
    retryable: true,
    cause: error,
  });
}
