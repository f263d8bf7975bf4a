import "reflect-metadata";
import * as x509 from "@peculiar/x509";

/** What differs between the certificates of the tests; each is for localhost and 127.0.0.1 and is good unless told otherwise. */
interface CertificateOptions {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly names?: readonly string[];
}

/** A certificate with its key, as servers take them. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;

x509.cryptoProvider.set(crypto);

/** An authority of the test, which whoever is given `cert` trusts. */
export class TestAuthority {
  readonly cert: string;
  readonly #keys: CryptoKeyPair;
  readonly #name: string;

  private constructor(cert: string, keys: CryptoKeyPair, name: string) {
    this.cert = cert;
    this.#keys = keys;
    this.#name = name;
  }

  static async create(name: string): Promise<TestAuthority> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      name: `CN=${name}`,
      notBefore: new Date(Date.now() - 365 * DAY_MS),
      notAfter: new Date(Date.now() + 3650 * DAY_MS),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    });
    return new TestAuthority(certificate.toString("pem"), keys, name);
  }

  async issue(options: CertificateOptions = {}): Promise<ServerCertificate> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(options),
      serialNumber: serialNumber(),
      subject: "CN=obs test server",
      issuer: `CN=${this.#name}`,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [subjectNames(options)],
    });
    return { cert: certificate.toString("pem"), key: await pemOfKey(keys.privateKey) };
  }
}

export async function selfSigned(options: CertificateOptions = {}): Promise<ServerCertificate> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(options),
    serialNumber: serialNumber(),
    name: "CN=obs test server",
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [subjectNames(options)],
  });
  return { cert: certificate.toString("pem"), key: await pemOfKey(keys.privateKey) };
}

const newKeys = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const serialNumber = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");

function validity(options: CertificateOptions): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: options.notBefore ?? new Date(Date.now() - DAY_MS),
    notAfter: options.notAfter ?? new Date(Date.now() + 90 * DAY_MS),
  };
}

function subjectNames({ names = ["localhost"] }: CertificateOptions): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension([
    ...names.map((value) => ({ type: "dns" as const, value })),
    ...(names.includes("localhost") ? [{ type: "ip" as const, value: "127.0.0.1" }] : []),
  ]);
}

async function pemOfKey(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
