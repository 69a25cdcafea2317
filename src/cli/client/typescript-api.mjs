// TypeScript 7 has no API; that of TypeScript 5 comes with this package, which brings no `tsc` of its own.
import common from "@ts-morph/common";

export default common.ts;
