import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";

/** What a listener's name asks of a stanza: `CB:tag`, `CB:tag,key`, `CB:tag,key:value`, `CB:tag,key:value,child`, `CB:tag,,child`. */
interface Pattern {
  name: string;
  tag: string;
  key: string;
  value: string | null;
  child: string;
}

type Emit = (name: string | symbol, ...args: unknown[]) => boolean;

/**
 * Emits of each stanza only the events that somebody listens for. Baileys makes a dozen names of every one (each attribute
 * with and without its value and the first child) and looks each of them up; a tenth of the time that a message takes.
 *
 * Listeners are called in Baileys' order: first those of an answer's id, then the most exact names, the bare tag last.
 */
export function emitWhatIsListenedFor({ ws }: Pick<WASocket, "ws">): void {
  const emit = ws.emit.bind(ws) as Emit;
  let byTag: Map<string, Pattern[]> | null = null;
  let questions = 0;
  /** Whatever is emitted with this stanza has been. */
  let current: unknown;

  function dispatch(node: BinaryNode): void {
    current = node;
    byTag ??= patternsIn(ws.eventNames());
    const { attrs, content } = node;
    if (questions > 0) emit(`TAG:${attrs.id}`, node);
    const child = Array.isArray(content) ? (content[0]?.tag ?? "") : "";
    for (const pattern of byTag.get(node.tag) ?? [])
      if (fits(pattern, attrs, child)) emit(pattern.name, node);
  }

  const changed =
    (difference: 1 | -1) =>
    (name: unknown): void => {
      if (typeof name !== "string") return;
      if (name.startsWith("TAG:")) questions += difference;
      else if (name.startsWith("CB:")) byTag = null;
    };
  questions = ws.eventNames().filter((name) => String(name).startsWith("TAG:")).length;
  ws.on("newListener", changed(1));
  ws.on("removeListener", changed(-1));

  ws.emit = ((name: string | symbol, first: unknown, ...rest: unknown[]) => {
    if (name === "frame") {
      const heard = emit(name, first);
      if (!(first instanceof Uint8Array)) dispatch(first as BinaryNode);
      return heard;
    }
    if (first !== undefined && first === current) return true;
    return emit(name, first, ...rest);
  }) as typeof ws.emit;
}

function fits({ key, value, child }: Pattern, attrs: BinaryNode["attrs"], first: string): boolean {
  if (child !== "" && child !== first) return false;
  if (key === "") return true;
  return value === null ? attrs[key] !== undefined : attrs[key] === value;
}

function patternsIn(names: (string | symbol)[]): Map<string, Pattern[]> {
  const patterns = new Map<string, Pattern[]>();
  for (const name of names) {
    if (typeof name !== "string" || !name.startsWith("CB:")) continue;
    const pattern = readPattern(name);
    patterns.set(pattern.tag, [...(patterns.get(pattern.tag) ?? []), pattern]);
  }
  for (const list of patterns.values()) list.sort((one, other) => rank(one) - rank(other));
  return patterns;
}

function readPattern(name: string): Pattern {
  const [tag = "", attribute = "", child = ""] = name.slice("CB:".length).split(",");
  const colon = attribute.indexOf(":");
  const key = colon < 0 ? attribute : attribute.slice(0, colon);
  return { name, tag, key, value: colon < 0 ? null : attribute.slice(colon + 1), child };
}

/** Baileys' order: value and child, value, attribute, child, tag. */
function rank({ key, value, child }: Pattern): number {
  if (key === "") return child === "" ? 4 : 3;
  if (value === null) return 2;
  return child === "" ? 1 : 0;
}
