import { defineHandler } from "h3";
import { answerUnmatched } from "../src/api/answers/unmatched.ts";

/** Whatever no other file answers: OPTIONS, a wrong method, a path that does not exist. */
export default defineHandler((event) => answerUnmatched(event));
