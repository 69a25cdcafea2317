/** One setting of a bot, as its JSON Schema describes it. */
export interface Setting {
  name: string;
  kind: "text" | "long" | "secret" | "address" | "number" | "flag" | "choice" | "lines" | "json";
  hint: string | null;
  isRequired: boolean;
  /** What holds when nothing is given, as it would be written. */
  usual: string | null;
  choices: string[];
  limits: Limits;
}

interface Limits {
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  isWhole: boolean;
}

/** What is wrong with a setting, by the name of its text. */
export interface Problem {
  key: "required" | "number" | "whole" | "least" | "most" | "short" | "long" | "address" | "json" | "form";
  values: Record<string, number>;
}

type Json = Record<string, unknown>;
const SECRET = /(^|_|[a-z])(key|token|secret|password)$/i;
const LONG = /(text|message|rules|instructions|prompt|about|card)$/i;
const LONG_LENGTH = 200;

/** The settings in the order of the schema; null when it is none that a form can show. */
export function settingsOf(schema: Json | null): Setting[] | null {
  const properties = schema?.["properties"];
  if (typeof properties !== "object" || properties === null) return null;
  const required = new Set((schema!["required"] as string[] | undefined) ?? []);
  return Object.entries(properties as Record<string, Json>).map(([name, found]) => {
    const field = plain(found);
    const kind = kindOf(name, field);
    return {
      name,
      kind,
      hint: typeof field["description"] === "string" ? field["description"] : null,
      isRequired: required.has(name) && field["default"] === undefined,
      usual: field["default"] === undefined ? null : written(kind, field["default"]),
      choices: ((field["enum"] as unknown[] | undefined) ?? []).map(String),
      limits: { ...(field as Partial<Limits>), isWhole: field["type"] === "integer" },
    };
  });
}

/** Of several forms that fit, what is there besides null. */
function plain(field: Json): Json {
  const forms = (field["anyOf"] ?? field["oneOf"]) as Json[] | undefined;
  const [first, ...more] = (forms ?? []).filter((form) => form["type"] !== "null");
  return first !== undefined && more.length === 0 ? { ...field, ...first } : field;
}

function kindOf(name: string, field: Json): Setting["kind"] {
  if (Array.isArray(field["enum"])) return "choice";
  switch (field["type"]) {
    case "boolean":
      return "flag";
    case "integer":
    case "number":
      return "number";
    case "array":
      return (field["items"] as Json | undefined)?.["type"] === "string" ? "lines" : "json";
    case "string":
      if (field["format"] === "uri") return "address";
      if (SECRET.test(name)) return "secret";
      return LONG.test(name) || Number(field["maxLength"] ?? 0) > LONG_LENGTH ? "long" : "text";
    default:
      return "json";
  }
}

/** A value as it stands in its field. */
export function written(kind: Setting["kind"], value: unknown): string {
  if (value === undefined || value === null) return "";
  if (kind === "lines") return (value as unknown[]).join("\n");
  if (kind === "json") return JSON.stringify(value, null, 2);
  return String(value);
}

/** What a field means; undefined: it is left to the bot. */
export function valueOf(setting: Setting, text: string): { value: unknown } | { problem: Problem } {
  const said = text.trim();
  if (said === "") return setting.isRequired ? wrong("required") : { value: undefined };
  const { limits } = setting;
  switch (setting.kind) {
    case "flag":
      return { value: said === "true" };
    case "lines":
      return {
        value: said
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== ""),
      };
    case "json":
      return readJson(said);
    case "number":
      return readNumber(said, limits);
    case "address":
      return /^https?:\/\/\S+$/i.test(said) ? { value: said } : wrong("address");
    default: {
      const { minLength = 0, maxLength = Infinity } = limits;
      if (text.length < minLength) return wrong("short", { n: minLength });
      return text.length > maxLength ? wrong("long", { n: maxLength }) : { value: text };
    }
  }
}

function readJson(text: string): { value: unknown } | { problem: Problem } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return wrong("json");
  }
}

function readNumber(text: string, { minimum, maximum, isWhole }: Limits) {
  const value = Number(text.replace(",", "."));
  if (!Number.isFinite(value)) return wrong("number");
  if (isWhole && !Number.isInteger(value)) return wrong("whole");
  if (minimum !== undefined && value < minimum) return wrong("least", { n: minimum });
  return maximum !== undefined && value > maximum ? wrong("most", { n: maximum }) : { value };
}

const wrong = (key: Problem["key"], values: Record<string, number> = {}): { problem: Problem } => ({
  problem: { key, values },
});

/**
 * What the gateway refused, by setting: `Bot "menu": config crmUrl: must be …`. What belongs to none stands under "".
 */
export function refusals(texts: readonly string[], names: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const text of texts) {
    const told = /^Bot "[^"]*": config (.*)$/s.exec(text)?.[1] ?? text;
    const place = told.slice(0, told.indexOf(":")).split(".")[0]!;
    const name = names.includes(place) ? place : "";
    const words = name === "" ? told : told.slice(told.indexOf(":") + 1).trim();
    found[name] = [...(found[name] ?? []), words];
  }
  return found;
}
