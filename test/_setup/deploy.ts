import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";

const DEPLOY = new URL("../../deploy/", import.meta.url);
/** The folder with what a deployment is made of. */
export const DEPLOY_FOLDER = fileURLToPath(DEPLOY);

/** What a compose file says of one service, as far as tests look at it. */
export interface Service {
  image: string;
  command: string[];
  read_only?: boolean;
  environment?: Record<string, string>;
  stop_grace_period?: string;
}

/** A compose file with its merges, as it is written: nothing is put in for `${…}`. */
export const readCompose = (file = "compose.yaml"): { services: Record<string, Service> } =>
  parse(readFileSync(new URL(file, DEPLOY), "utf8"), { merge: true });

/** `${NAME:-otherwise}` and `${NAME:?why}` as compose reads them. */
export const interpolate = (text: string, given: Record<string, string>): string =>
  text.replaceAll(
    /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g,
    (_, name: string, otherwise?: string) => given[name] ?? otherwise ?? "",
  );

/** One object of a manifest. */
export interface Manifest {
  file: string;
  kind: string;
  apiVersion: string;
  metadata: { name: string };
  spec?: never;
}

/** Every object in `deploy/kubernetes`, kustomize's own file left out. */
export function readManifests(): Manifest[] {
  const folder = new URL("kubernetes/", DEPLOY);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml")
    .flatMap((file) =>
      parseAllDocuments(readFileSync(new URL(file, folder), "utf8")).map((document) => ({
        file,
        ...(document.toJS() as Omit<Manifest, "file">),
      })),
    );
}
