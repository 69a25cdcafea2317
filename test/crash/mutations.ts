import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildGateway, SOURCES } from "../_setup/build.ts";
import { removeFolder } from "../_setup/folders.ts";
import { root } from "../_setup/made-once.ts";
import type { FailpointName } from "../../src/model/failpoint.ts";

/** A promise taken out of the sources, and the drill that must notice. */
export interface Mutation {
  name: string;
  what: string;
  file: string;
  /** Pairs of text and what stands in its place; each text must stand in the file exactly once. */
  edits: [from: string, to: string][];
  /** What the database itself would still prevent. */
  sql?: string;
  /** The message is an everyday one: its contact has been answered before. */
  isEveryday?: boolean;
  /** Where the drill kills the process; null: a message comes twice, encrypted anew. */
  killedAt: FailpointName | null;
  /** What the judge must find. */
  found: "lost" | "duplicated" | "problems";
}

const on = (name: string): string => `process.env["MUTANT"] === "${name}"`;

/** Every edit asks for the mutation's name when it runs, so that one build holds them all, and the gateway as it is. */
export const MUTATIONS: Mutation[] = [
  {
    name: "late-inbox-row",
    what: "the message is not stored with the ratchet, but after it",
    file: "src/whatsapp/signal/key-writes.ts",
    edits: [
      [
        "const written = cache.begin(changes);",
        `if (${on("late-inbox-row")} && received.statements.length > 0) {
      await write({ changes, beside, received: NO_INTAKE });
      setTimeout(() => void attempt(received.statements).then(received.committed), 500);
      return;
    }
    const written = cache.begin(changes);`,
      ],
    ],
    killedAt: "after-receive-commit",
    found: "lost",
  },
  {
    name: "receipt-first",
    what: "the receipt leaves before the commit",
    file: "src/whatsapp/signal/repository.ts",
    edits: [
      [
        "return await keys\n        .transaction(() => decryptAndStore(origin, hash, decrypt), address)",
        `if (${on("receipt-first")})
        return await new Promise<Uint8Array>((resolve, reject) => {
          const early = async (): Promise<Uint8Array> => {
            const padded = await decrypt();
            resolve(padded);
            await new Promise((later) => setTimeout(later, 2_000));
            return padded;
          };
          keys.transaction(() => decryptAndStore(origin, hash, early), address).catch(reject);
        });
      return await keys
        .transaction(() => decryptAndStore(origin, hash, decrypt), address)`,
      ],
    ],
    killedAt: "before-receive-commit",
    found: "lost",
  },
  {
    name: "everyday-receipt-first",
    what: "the receipt of an everyday message leaves before the commit",
    file: "src/whatsapp/everyday/receive.ts",
    edits: [
      [
        "const reason =\n      address === null",
        `if (${on("everyday-receipt-first")} && address !== null) {
      await confirm(socket, stanza.attributes, isOnline);
      await new Promise((later) => setTimeout(later, 2_000));
    }
    const reason =
      address === null`,
      ],
    ],
    isEveryday: true,
    killedAt: "before-receive-commit",
    found: "lost",
  },
  {
    name: "everyday-late-row",
    what: "the inbox row of an everyday message is stored after its ratchet",
    file: "src/whatsapp/everyday/receive.ts",
    edits: [
      [
        'failpoint("before-receive-commit");',
        `if (${on("everyday-late-row")}) {
      const unstored = { ...entry, intake: { statements: [], committed: () => undefined } };
      const early = { session: { [address]: record }, journal: { [hash]: unstored } };
      await auth.keys.set(early as unknown as SignalDataSet);
      failpoint("after-receive-commit");
    }
    failpoint("before-receive-commit");`,
      ],
    ],
    isEveryday: true,
    killedAt: "after-receive-commit",
    found: "lost",
  },
  {
    name: "ahead-unstored",
    what: "a reply is encrypted by the commit that stores it, and the sessions are not stored with it",
    file: "src/pipeline/handle.ts",
    edits: [
      [
        "const all = [...effects, ...(ahead?.statements ?? [])];",
        `const all = [...effects, ...(${on("ahead-unstored")} ? [] : (ahead?.statements ?? []))];`,
      ],
    ],
    isEveryday: true,
    killedAt: "before-ack",
    found: "problems",
  },
  {
    name: "outcome-first",
    what: "a message is stored as sent before it has left",
    file: "src/outbox/sending/attempt.ts",
    edits: [
      [
        "return await handleOutcome(message, await connection.send(outgoing));",
        `if (${on("outcome-first")}) {
        setTimeout(() => void connection.send(outgoing), 3_000);
        return await handleOutcome(message, { kind: "sent" });
      }
      return await handleOutcome(message, await connection.send(outgoing));`,
      ],
    ],
    isEveryday: true,
    killedAt: "after-outcome-commit",
    found: "lost",
  },
  {
    name: "split-commit",
    what: "a message is done before its reply is stored",
    file: "src/pipeline/conclusions.ts",
    edits: [
      [
        'import type { Statement } from "../model/statement.ts";',
        `import { failpoint } from "../model/failpoint.ts";
import type { Statement } from "../model/statement.ts";`,
      ],
      [
        "const all = [...guarded, ...effects, ...chat];",
        `if (${on("split-commit")}) {
          await store.writer.commit([...guarded, ...chat], { owning: stored.deviceId });
          failpoint("after-reply-commit");
          return await store.writer.commit(effects, { owning: stored.deviceId });
        }
        const all = [...guarded, ...effects, ...chat];`,
      ],
    ],
    killedAt: "after-reply-commit",
    found: "lost",
  },
  {
    name: "fresh-id",
    what: "a message gets another id when it is sent again",
    file: "src/outbox/sending/compose.ts",
    edits: [
      [
        "return { waId: message.waId, jid: message.jid, draft: message.draft };",
        `if (${on("fresh-id")})
        message.waId = \`3EB0\${crypto.randomUUID().replaceAll("-", "").slice(0, 18).toUpperCase()}\`;
      return { waId: message.waId, jid: message.jid, draft: message.draft };`,
      ],
    ],
    killedAt: "before-ack",
    found: "duplicated",
  },
  {
    name: "no-key",
    what: "the inbox takes a message that it has",
    file: "src/inbox/rows.ts",
    edits: [
      [
        "AND NOT EXISTS (SELECT 1 FROM inbox WHERE ${SAME})\n${UNLESS_KNOWN} RETURNING id",
        `AND NOT EXISTS (SELECT 1 FROM inbox WHERE \${${on("no-key")} ? "0 AND" : ""} \${SAME})
\${${on("no-key")} ? "" : UNLESS_KNOWN} RETURNING id`,
      ],
    ],
    sql: "DROP INDEX inbox_message",
    killedAt: null,
    found: "duplicated",
  },
];

/** A build of the sources with every mutation in it, each of which waits for its name in `MUTANT`. */
export interface Mutants {
  entry: string;
  remove(): void;
}

/** @throws naming the mutation whose text does not stand in its file exactly once: it has to follow the sources */
export async function buildMutants(): Promise<Mutants> {
  // Inside the checkout, whose packages are found from here.
  const folder = mkdtempSync(join(root, ".test", "mutants-"));
  const remove = (): void => removeFolder(folder);
  try {
    for (const path of [...SOURCES, "docs", "tsconfig.json"])
      cpSync(join(root, path), join(folder, path), { recursive: true });
    for (const mutation of MUTATIONS) apply(folder, mutation);
    await buildGateway(folder, join(folder, ".output"));
    return { entry: join(folder, ".output/server/index.mjs"), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** @returns the sources of a file with the mutation in it @throws naming the edit that does not stand there exactly once */
export function mutated(text: string, { name, file, edits }: Mutation): string {
  for (const [from, to] of edits) {
    const found = text.split(from).length - 1;
    if (found !== 1)
      throw new Error(
        `The mutation "${name}" has to follow ${file}: it stands there ${found} times: ${from}`,
      );
    text = text.replace(from, () => to);
  }
  return text;
}

function apply(folder: string, mutation: Mutation): void {
  const path = join(folder, mutation.file);
  writeFileSync(path, mutated(readFileSync(path, "utf8"), mutation));
}
