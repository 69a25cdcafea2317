import { H3Event } from "h3";
import { describe, expect, it } from "vitest";
import { noSessionCookie, sessionCookie, sessionToken } from "../../../src/api/access/session-cookie.ts";
import { loadConfig } from "../../../src/config.ts";

const asked = (cookie: string): H3Event =>
  new H3Event(new Request("http://gateway/", { headers: { cookie } }));
const clear = { config: loadConfig({}) };
const tls = { config: loadConfig({ PUBLIC_URL: "https://gateway.example" }) };

describe("the cookie of a session", () => {
  it("behind TLS is Secure and of this host alone, and no other name is read there", () => {
    expect(sessionCookie(tls, "T")).toBe("__Host-parley=T; Path=/; HttpOnly; SameSite=Strict; Secure");
    expect(noSessionCookie(tls)).toContain("Max-Age=0");
    expect(sessionToken(tls, asked("parley=A; __Host-parley=B"))).toBe("B");
    expect(sessionToken(tls, asked("parley=A"))).toBeNull();
    expect(sessionCookie(clear, "T")).toBe("parley=T; Path=/; HttpOnly; SameSite=Strict");
    expect(sessionToken(clear, asked("x=1;parley=A ; y=2; xparley=B"))).toBe("A");
  });

  it("is none that counts when two of the name differ", () => {
    expect(sessionToken(clear, asked("parley=A; parley=A"))).toBe("A");
    expect(sessionToken(clear, asked("parley=A; parley=B"))).toBe("");
    expect(sessionToken(clear, asked(""))).toBeNull();
  });
});
