import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { chromium, type CDPSession, type Page } from "playwright-core";
import type { PasskeyAssertion, PasskeyRequest } from "../../src/model/passkey.ts";
import { makeCertificates } from "../../src/simulator/inside.ts";
import type { OwnerPasskey } from "../../src/simulator/types.ts";

const HOST = "web.whatsapp.com";

/** A person's browser on `https://web.whatsapp.com`, with a passkey for `whatsapp.com` in it. */
export interface WhatsAppWeb {
  passkey: OwnerPasskey;
  page: Page;
  /** Runs lines in the page's console. @returns what they print first */
  run(lines: string): Promise<PasskeyAssertion>;
  close(): Promise<void>;
}

/** The lines of `docs/passkey/ask.js` for one question. */
export const linesFor = (request: PasskeyRequest): string =>
  readFileSync("docs/passkey/ask.js", "utf8").replace("REQUEST", () => JSON.stringify(request));

/** Chromium with its virtual authenticator; a local TLS server stands for the origin. */
export async function openWhatsAppWeb(): Promise<WhatsAppWeb> {
  const { certificate, key } = makeCertificates();
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>WhatsApp Web</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", `--host-resolver-rules=MAP ${HOST} 127.0.0.1:${port}`],
  });
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  const tools = await page.context().newCDPSession(page);
  await addAuthenticator(tools);
  await page.goto(`https://${HOST}/`);
  return {
    passkey: await makePasskey(page),
    page,
    async run(lines) {
      const printed = page.waitForEvent("console");
      await page.evaluate(lines);
      return JSON.parse((await printed).text());
    },
    async close() {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function addAuthenticator(tools: CDPSession): Promise<void> {
  await tools.send("WebAuthn.enable");
  await tools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
}

/** What happened when the owner made the passkey. */
const makePasskey = (page: Page): Promise<OwnerPasskey> =>
  page.evaluate(async () => {
    const text = (buffer: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
    const made = (await navigator.credentials.create({
      publicKey: {
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        rp: { id: "whatsapp.com", name: "WhatsApp" },
        user: { id: new Uint8Array([1]), name: "owner", displayName: "Owner" },
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      },
    })) as PublicKeyCredential;
    const key = (made.response as AuthenticatorAttestationResponse).getPublicKey()!;
    const credentialId = text(made.rawId).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return { credentialId, publicKey: text(key) };
  });
