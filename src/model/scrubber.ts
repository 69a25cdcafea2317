/** Takes secrets out of finished text: those it was told of, and what looks like one. */
export interface Scrubber {
  scrub(text: string): string;
  /** A value that must not be read in any of its usual spellings. Shorter than 8 characters is ignored. */
  hide(secret: string | Uint8Array): void;
}

// What can be recognised without knowing it. In this order: a key within a URL goes with its parameter.
const PATTERNS: [RegExp, string][] = [
  [/(\/media\/)[\w.-]{40,}/g, "$1[redacted]"],
  [/([?&;]|\b)(api_key|access_token|token|secret)=[^&\s"'\\]+/gi, "$1$2=[redacted]"],
  [/\?[^\s"'\\=&?]{1,64}=[^\s"'\\]*/g, "?[redacted]"],
  [/\bparley_[0-9A-Za-z]{16,}/g, "parley_[redacted]"],
  [/\bwhsec_[A-Za-z0-9+/=_-]{8,}/g, "whsec_[redacted]"],
  [/\b(Bearer|Basic)(\s+|%20|\+)[^\s"'\\,;]+/gi, "$1 [redacted]"],
  [/:\/\/[^\s/"'\\@]+@/g, "://[redacted]@"],
  [/("(?:api_key|apikey|authorization|secret|token|password)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, '$1"[redacted]"'],
];

/**
 * Replaces secrets in finished text.
 *
 * @param secrets values known from the start; bytes are hidden in base64, base64url and hex
 */
export function createScrubber(secrets: (string | Uint8Array | null)[] = []): Scrubber {
  const hidden = new Set<string>();

  function hide(secret: string | Uint8Array): void {
    for (const spelling of spellings(secret)) if (spelling.length >= 8) hidden.add(spelling);
  }

  for (const secret of secrets) if (secret !== null) hide(secret);
  return {
    hide,
    scrub(text) {
      let clean = text;
      for (const spelling of hidden) clean = clean.replaceAll(spelling, "[redacted]");
      for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
      return clean;
    },
  };
}

function spellings(secret: string | Uint8Array): string[] {
  if (typeof secret === "string")
    return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64");
  const hex = bytes.toString("hex");
  // Without the padding, which some writers leave out and URLs spell differently.
  return [
    base64.replace(/={1,2}$/, ""),
    encodeURIComponent(base64),
    bytes.toString("base64url"),
    hex,
    hex.toUpperCase(),
  ];
}
