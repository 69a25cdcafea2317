import type { SocketConfig } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";

type BaileysLogger = SocketConfig["logger"];

const ignore = (): void => undefined;

/**
 * Baileys logs whole stanzas, keys and messages as objects. Only its fixed texts are passed on, and only at debug level:
 * what an operator must know is told by the connection itself.
 */
export function quietLogger(log: Logger): BaileysLogger {
  const pass =
    (level: string) =>
    (object: unknown, text?: string): void =>
      log.debug({ baileys: level }, text ?? (typeof object === "string" ? "(a text without an object)" : ""));
  const speaks = log.isLevelEnabled("debug");
  const logger: BaileysLogger = {
    // Baileys looks at this before it turns stanzas into text.
    level: "silent",
    child: () => logger,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: speaks ? pass("warn") : ignore,
    error: speaks ? pass("error") : ignore,
  };
  return logger;
}
