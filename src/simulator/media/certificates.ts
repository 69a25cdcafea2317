import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { hostTime } from "../time.ts";
import { bits, context, integer, octets, oid, sequence, set, text, utcTime, yes } from "./der.ts";

/** A certificate authority for one simulator, and the certificate it has issued to the media host; all PEM. */
export interface Certificates {
  ca: string;
  certificate: string;
  key: string;
}

const DAY_MS = 86_400_000;
const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const LOOPBACK = Buffer.from([127, 0, 0, 1]);

interface Issue {
  subject: string;
  publicKey: KeyObject;
  issuer: string;
  signer: KeyObject;
  extensions: Buffer[];
}

/** Makes a new authority and a certificate for `localhost` and 127.0.0.1. Valid for ten days; the keys are in memory only. */
export function makeCertificates(): Certificates {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const host = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = "Simulated media authority";
  const ca = issue({
    subject: issuer,
    publicKey: authority.publicKey,
    issuer,
    signer: authority.privateKey,
    extensions: [
      extension("2.5.29.19", sequence(yes()), true),
      // keyCertSign and cRLSign
      extension("2.5.29.15", bits(Buffer.from([0b0000_0110]), 1), true),
      keyIdentifier(authority.publicKey),
    ],
  });
  const names = [context(2, Buffer.from("localhost"), false), context(7, LOOPBACK, false)];
  const certificate = issue({
    subject: "localhost",
    publicKey: host.publicKey,
    issuer,
    signer: authority.privateKey,
    extensions: [
      extension("2.5.29.19", sequence(), true),
      extension("2.5.29.15", bits(Buffer.from([0b1000_0000]), 7), true),
      // Server authentication
      extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))),
      extension("2.5.29.17", sequence(...names)),
      keyIdentifier(host.publicKey),
    ],
  });
  return { ca, certificate, key: String(host.privateKey.export({ type: "pkcs8", format: "pem" })) };
}

function issue({ subject, publicKey, issuer, signer, extensions }: Issue): string {
  const now = hostTime.now();
  const spki = publicKey.export({ type: "spki", format: "der" });
  const body = sequence(
    context(0, integer(Buffer.from([2]))),
    integer(fingerprint(publicKey).subarray(0, 8)),
    ECDSA_SHA256,
    name(issuer),
    sequence(utcTime(new Date(now - DAY_MS)), utcTime(new Date(now + 9 * DAY_MS))),
    name(subject),
    spki,
    context(3, sequence(...extensions)),
  );
  const der = sequence(body, ECDSA_SHA256, bits(sign("sha256", body, signer)));
  const lines = der.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines.trimEnd()}\n-----END CERTIFICATE-----\n`;
}

const name = (commonName: string): Buffer => sequence(set(sequence(oid("2.5.4.3"), text(commonName))));

const extension = (id: string, value: Buffer, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [yes()] : []), octets(value));

const keyIdentifier = (key: KeyObject): Buffer =>
  extension("2.5.29.14", octets(fingerprint(key).subarray(0, 20)));

const fingerprint = (key: KeyObject): Buffer =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();
