import { inject } from "vitest";
import { programIn } from "./programs.ts";

/** In a test: what `node` is given instead of `--import tsx <source>`. @param source one of the programs of `programs.ts` */
export const programFile = (source: string): string => programIn(inject("programs"), source);
