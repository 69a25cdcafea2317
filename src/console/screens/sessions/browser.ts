/** A session as `GET /sessions` lists it. */
export interface SignedIn {
  id: string;
  kind: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string;
  address: string | null;
  user_agent: string | null;
  current: boolean;
}

/** The first that fits: several say that they are another one as well. */
const BROWSERS = [
  ["Edg", "Edge"],
  ["OPR", "Opera"],
  ["SamsungBrowser", "Samsung Internet"],
  ["Firefox", "Firefox"],
  ["FxiOS", "Firefox"],
  ["CriOS", "Chrome"],
  ["Chrome", "Chrome"],
  ["Safari", "Safari"],
  ["curl", "curl"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS", "Mac"],
  ["Linux", "Linux"],
] as const;
const PHONES = ["Android", "iPhone"];

/** `Mozilla/5.0 …` → `Firefox, Windows`; empty when neither is known. */
export function browserOf(userAgent: string | null): { name: string; isPhone: boolean } {
  const text = userAgent ?? "";
  const of = (known: readonly (readonly [string, string])[]): string =>
    known.find(([word]) => text.includes(word))?.[1] ?? "";
  const system = of(SYSTEMS);
  return {
    name: [of(BROWSERS), system].filter((part) => part !== "").join(", "),
    isPhone: PHONES.includes(system),
  };
}
