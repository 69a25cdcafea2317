/** A version of WhatsApp's web client: what a companion names when it logs in. */
export type ClientVersion = [number, number, number];

/** `2.3000.1043857760` */
const WRITTEN = /^(\d{1,9})\.(\d{1,9})\.(\d{1,10})$/;
/** What WhatsApp's own service worker says of itself: it names the last number alone. */
const REVISION = /client_revision\\?":\s?(\d{1,10})\b/;
const FAMILY = [2, 3000] as const;
const LARGEST_REVISION = 0xff_ff_ff_ff;

/** @returns null for what is no version */
export function readVersion(text: string): ClientVersion | null {
  const parts = WRITTEN.exec(text.trim());
  return parts === null ? null : [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/**
 * The version that a page names: as text, as JSON (`"2.3000.1"`, `[2,3000,1]`, either of them as `version`), or as WhatsApp's own
 * service worker does.
 *
 * @returns null for anything else, and for what is no version of this family: naming it to WhatsApp would do harm
 */
export function versionInPage(page: string): ClientVersion | null {
  const found = readVersion(page) ?? readJson(page) ?? readRevision(page);
  if (found === null) return null;
  const [major, minor, revision] = found;
  const isPlausible =
    major === FAMILY[0] && minor >= FAMILY[1] && revision > 0 && revision <= LARGEST_REVISION;
  return isPlausible ? found : null;
}

/** `2.3000.1043857760` */
export const versionText = (version: ClientVersion): string => version.join(".");

/** Whether one version is older than another. */
export function isOlder(version: ClientVersion, than: ClientVersion): boolean {
  const at = version.findIndex((part, index) => part !== than[index]);
  return at >= 0 && version[at]! < than[at]!;
}

function readJson(page: string): ClientVersion | null {
  let value: unknown;
  try {
    value = JSON.parse(page);
  } catch {
    return null;
  }
  const version = value !== null && typeof value === "object" && "version" in value ? value.version : value;
  if (typeof version === "string") return readVersion(version);
  if (!Array.isArray(version) || version.length !== 3) return null;
  return version.every((part) => Number.isSafeInteger(part) && (part as number) >= 0)
    ? (version as ClientVersion)
    : null;
}

function readRevision(page: string): ClientVersion | null {
  const found = REVISION.exec(page);
  return found === null ? null : [...FAMILY, Number(found[1])];
}
