import { describe, expect, it } from "vitest";
import { expressionsOf, findExpressions, slowPartsOf, type Expression } from "./_setup/expressions.ts";

/**
 * Every expression below `src`, `routes` and `bots` counts as one that is run on what strangers send, and must be linear.
 * Those that are not, or of which the examination cannot tell, stand here by file and source.
 */

/** Never run on anything that comes from outside, and why. */
const NOT_ON_FOREIGN_TEXT: Exceptions = {
  "src/config.ts": { "/\\/+$/": "PUBLIC_URL: the operator's own setting, read at start" },
  "src/testing/network/network.ts": {
    "/^at (?:async )?(?:.*\\()?(.*?)\\)?$/": "one line of a stack in a test of a bot's author",
  },
  "src/cli/build-kit.ts": {
    '/((?:from|import)\\s*\\(?\\s*"\\.[^"]+)\\.ts"/g': "declarations that the build has just made",
  },
  "src/testing/failures.ts": { "/^\\s+at [^]*/m": "a stack in a test of a bot's author" },
  "src/cli/dev-failure.ts": {
    "/(?:file:\\/\\/)?(\\/[^\\s()?]+)(?:\\?[^:]*)?:(\\d+):(\\d+)\\)?$/":
      "one line of a stack of a bot in development",
  },
  "src/build/one-script.ts": {
    "/^export (?:default [^\\n]*|\\{[^}]*\\});?$/gm": "modules that the build has just made",
  },
  "src/cli/reference/sources.ts": {
    "/^[ \\t]*\\n?[ \\t]*(?:\\|[ \\t]*)?$/": "the sources themselves, for docs/reference.md",
    "/\\n?[ \\t]*$/": "the sources themselves, for docs/reference.md",
    "/(?:^|\\n)([ \\t]*)[^\\n]*$/": "the sources themselves, for docs/reference.md",
  },
  "src/bot/routes/options.ts": {
    "/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/": "a bot's own `locale`, read when it is loaded",
  },
};

/** Run on foreign text; they repeat a group, which the examination names always, and yet are linear. Why: */
const LINEAR_ALL_THE_SAME: Exceptions = {
  "src/bot/messages/normalise.ts": {
    "/^[a-z0-9]+(?: [a-z0-9]+)*$/": "a word holds no space, so each text is cut in one way only",
  },
  "src/media/names.ts": {
    '/;\\s*filename\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))/i':
      "a backslash always takes the next character with it, so each text is cut in one way only, and a further beginning has a quote that ends the group",
  },
  "src/media/decoder/text.ts": {
    "/^(?:<\\?[^]*?\\?>|<!--[^]*?-->|<!doctype(?:[^>[]|\\[[^\\]]*\\])*>)\\s*/i":
      "bound to the beginning; a bracket is taken by one alternative only, and reaches to the next closing one",
  },
  "src/model/scrubber.ts": {
    '/("(?:api_key|apikey|authorization|secret|token|password)"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"/gi':
      "a backslash always takes the next character with it, and a further beginning has a quote that ends the group",
  },
};

/** Put together when the code runs: what they come to, or why nobody can know. */
const MADE_AT_RUN_TIME: Exceptions<string | { examined: string[] }> = {
  "src/testing/stories/anonymise.ts": {
    'new RegExp(`(?<![\\\\p{L}\\\\p{N}])${word.replaceAll(/[.*+?^${}()|[\\]\\\\]/g, "\\\\$&")}(?![\\\\p{L}\\\\p{N}])`, "giu")':
      {
        examined: ["/(?<![\\p{L}\\p{N}])Ana(?![\\p{L}\\p{N}])/giu"],
      },
  },
  "src/store/write/ownerless.ts": {
    'new RegExp(\n  `^\\\\s*(?:insert(?: or \\\\w+)? into|replace into|update|delete from)\\\\s+(${OWNED.join("|")})\\\\b`,\n  "i",\n)':
      "on statements of ours, in tests",
  },
  "src/accounts/key-format.ts": {
    "new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_DIGITS + CHECK_DIGITS}}$`)": {
      examined: ["/^parley_[0-9A-Za-z]{36}$/"],
    },
  },
  "src/webhooks/settings.ts": {
    "new RegExp(String.raw`^[\\t\\x20-\\x7e\\x80-\\xff]{0,${LONGEST_HEADER}}$`)": {
      examined: ["/^[\\t\\x20-\\x7e\\x80-\\xff]{0,4096}$/"],
    },
  },
  "src/whatsapp/content/vcard.ts": {
    'new RegExp(`^(?:[\\\\w-]+\\\\.)?${name}[;:]`, "i")': {
      examined: ["/^(?:[\\w-]+\\.)?FN[;:]/i", "/^(?:[\\w-]+\\.)?TEL[;:]/i"],
    },
  },
  "src/bot/routes/route-builder.ts": {
    'new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""))':
      "a bot's own: shipped bots are examined as literals, and routes look at the first `maxText` characters",
  },
  "src/bot/dialogues/accepted.ts": {
    'new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""))':
      "a bot's own: shipped bots are examined as literals, and an answer is at most `max` characters long",
  },
  "src/testing/chats/replies.ts": {
    "new RegExp(expected.source, expected.flags)": "a test's own, on what its bot replied",
  },
};

const GONE = "The expression has changed or is gone: correct its line in the list at the top of this file.";

type Exceptions<Reason = string> = Record<string, Record<string, Reason>>;
const has = (list: Exceptions<unknown>, { file, raw }: Expression): boolean => raw in (list[file] ?? {});

describe("every regular expression that strangers' text reaches is linear", () => {
  const all = findExpressions(["src", "routes", "bots"]);
  const written = all.filter(({ literal }) => literal !== null);

  it("finds them", () => {
    expect(written.length).toBeGreaterThan(200);
    expect(all.length).toBeGreaterThan(written.length);
  });

  it("has none that a long text makes slow", () => {
    const slow = written
      .filter((each) => !has(NOT_ON_FOREIGN_TEXT, each) && !has(LINEAR_ALL_THE_SAME, each))
      .flatMap(({ file, line, raw, literal }) =>
        slowPartsOf(literal!).map((part) => `${file}:${line} ${raw}: ${part}`),
      );
    expect(
      slow,
      "Write it so that no two neighbours can take the same character, or look at a bounded text. An exception goes into the lists at the top of this file, with its reason.",
    ).toEqual([]);
  });

  it("lets none of those that are linear all the same share a character out in two ways", () => {
    const shared = written
      .filter((each) => has(LINEAR_ALL_THE_SAME, each))
      .flatMap(({ raw, literal }) => slowPartsOf(literal!).map((part) => `${raw}: ${part}`))
      .filter((line) => !line.includes("repeats a group"));
    expect(shared, "Write it otherwise: it is not linear.").toEqual([]);
  });

  it("knows what those come to that the code puts together", () => {
    const unknown = all
      .filter(({ literal }) => literal === null)
      .filter((each) => !has(MADE_AT_RUN_TIME, each));
    expect(
      unknown.map(({ file, line, raw }) => `${file}:${line} ${raw}`),
      "Say in MADE_AT_RUN_TIME of this file what they come to.",
    ).toEqual([]);
    const examined = Object.values(MADE_AT_RUN_TIME)
      .flatMap((inFile) => Object.values(inFile))
      .flatMap((reason) => (typeof reason === "string" ? [] : reason.examined));
    expect(examined.flatMap(slowPartsOf)).toEqual([]);
  });

  it("lists no exception that is not needed any more", () => {
    const needed = (list: Exceptions<unknown>, isNeeded: (each: Expression) => boolean): string[] =>
      Object.entries(list).flatMap(([file, inFile]) =>
        Object.keys(inFile)
          .filter((raw) => !all.some((each) => each.file === file && each.raw === raw && isNeeded(each)))
          .map((raw) => `${file} ${raw}`),
      );
    const isSlow = ({ literal }: Expression): boolean => literal !== null && slowPartsOf(literal).length > 0;
    expect(needed(NOT_ON_FOREIGN_TEXT, isSlow), GONE).toEqual([]);
    expect(needed(LINEAR_ALL_THE_SAME, isSlow), GONE).toEqual([]);
    expect(
      needed(MADE_AT_RUN_TIME, ({ literal }) => literal === null),
      GONE,
    ).toEqual([]);
  });
});

describe("the examination", () => {
  it.each([
    ["shared among neighbours", "/^Bearer\\s+(\\S.*?)\\s*$/i"],
    ["shared among neighbours, one of them optional", "/^(?:(\\d{1,4})\\s*[x×]?\\s+)?(\\S.*)$/i"],
    ["walked over again from each start", "/\\.+$/"],
    ["walked over again to a line's end", "/@.*$/"],
    ["exponential", "/^(a+)+$/"],
    ["exponential by alternatives", "/^(?:a|a)*$/"],
    ["exponential by words", "/^(?:ab|a?b)+$/"],
    ["words shared among neighbours", "/^(?:ab)*(?:ab)*$/"],
    ["words walked over again from each start", "/<!--[^]*?-->/"],
    ["from each line's start", "/^\\s*Duration:/m"],
    ["looked for around", "/(?<=a+)b/"],
    ["in new syntax", "/[\\w--\\d]+$/v"],
  ])("names what is %s", (_what, literal) => expect(slowPartsOf(literal)).not.toEqual([]));

  it.each([
    "/^[a-z]+$/",
    "/@.*/s",
    "/\\s+/g",
    "/^ *Duration: (\\d+)/m",
    "/^\\/(\\w{1,64})(?:\\s([\\s\\S]*))?$/",
    "/\\border(?: status| number)? #?(\\d{3,12})\\b/i",
  ])("lets %s be", (literal) => expect(slowPartsOf(literal)).toEqual([]));

  it("finds literals and what is made of texts, and nothing in comments and texts", () => {
    const source = `// /a+$/
      const text: string = "/b+$/" + String(1 / 2 / 3);
      if (/c+$/u.test(text)) text.match("d+$"), text.search(\`e\`), new RegExp("f"), RegExp(text);
      text.split(/g/).map((part) => part.match(/h/));`;
    expect(expressionsOf("some.ts", source).map(({ raw }) => raw)).toEqual(
      expect.arrayContaining([
        "/c+$/u",
        'text.match("d+$")',
        "text.search(`e`)",
        'new RegExp("f")',
        "/g/",
        "/h/",
      ]),
    );
    expect(expressionsOf("some.ts", source)).toHaveLength(7);
    expect(() => expressionsOf("broken.ts", "const = /a/")).toThrow("broken.ts");
  });
});
